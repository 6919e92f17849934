# Completion of fusion-inspect for bash. tests/service/test_inspect.py holds it to --help.

_fusion_inspect_options() {
    case "$1" in
    devices) echo --json ;;
    status) echo --json ;;
    top) echo --interval --count ;;
    module) echo --ir --sub-group-size --constant --options ;;
    pipes) echo --integration ;;
    passes) echo --pass --kernel --help ;;
    bundle) echo --extract --help ;;
    run)
        echo --fusion --barriers --device --tier --bounds --debug --time-limit --json --tuning --in --out --repeat --rounds --profile --compare --trace --save --help
        ;;
    tune) echo --fusion --barriers --device --tier --bounds --debug --time-limit --json --in --help ;;
    explain) echo --fusion --barriers --device --tier --bounds --debug --time-limit --json --tuning --ir --assembly --dot --svg --help ;;
    compile)
        echo --fusion --barriers --device --tier --bounds --debug --time-limit --json --tuning --spirv --dialect --save --targets --fixed-targets --local-size \
            --split --device-config-file --help
        ;;
    esac
}

_fusion_inspect_values() {
    case "$1" in
    --fusion) echo none enable require ;;
    --tier) echo automatic quick compiled ;;
    --dialect) echo kernel vulkan ;;
    --split) echo off per_kernel per_source auto ;;
    --device) echo cpu reference vulkan level_zero ;;
    --pass) "${COMP_WORDS[0]}" passes --help 2>/dev/null | sed -n 's/^  \([a-z0-9_]*\) .*/\1/p' ;;
    esac
}

_fusion_inspect() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= i values
    local commands="devices status metrics top module pipes run passes compile bundle tune explain"
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "${COMP_WORDS[i]}" in
        --socket) i=$((i + 1)) ;;
        -*) ;;
        *) command=${COMP_WORDS[i]} && break ;;
        esac
    done
    values=$(_fusion_inspect_values "$before")
    if [ -n "$values" ]; then
        COMPREPLY=($(compgen -W "$values" -- "$word"))
    elif [ -z "$command" ]; then
        COMPREPLY=($(compgen -W "--socket --private --help --version $commands" -- "$word"))
    elif [ "${word#-}" != "$word" ]; then
        COMPREPLY=($(compgen -W "$(_fusion_inspect_options "$command")" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}

complete -o filenames -F _fusion_inspect fusion-inspect
