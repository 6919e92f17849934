# Completion for bash of programs whose options --help lists; files otherwise. fusion-inspect has its own.

_fusiond_options() {
    local word=$2
    [ "${word#-}" != "$word" ] || return 0
    COMPREPLY=($(compgen -W "$("$1" --help 2>&1 | grep -oE -- '(^|[^[:alnum:]])--?[a-z][a-z-]*' | grep -oE -- '--?[a-z-]+' | sort -u)" -- "$word"))
}

complete -o default -F _fusiond_options fusiond fusiond-clc fusion-split fusion-aspect-filter
