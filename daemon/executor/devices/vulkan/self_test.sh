#!/bin/sh
# The driver's self-test for numbers of so many bits, or where specials are `kept`, as words for a C array.
# Usage: self_test.sh SOURCE BITS|kept OUT
set -eu
capability= mode=
[ "$2" = 64 ] && capability='OpCapability Float64'
[ "$2" = kept ] && capability='OpCapability SignedZeroInfNanPreserve' mode='OpExecutionMode %main SignedZeroInfNanPreserve 32'
bits=${2%kept}
bits=${bits:-32}
sed -e "s/@mode@/$mode/" -e "s/@width@/$bits/; s/@bytes@/$((bits / 8))/; s/@stride@/$bits/; s/@count@/64/; s/@capability@/$capability/" "$1" |
    spirv-as --target-env vulkan1.2 - -o "$3.spv"
spirv-val --target-env vulkan1.2 "$3.spv"
od -v -An -tx4 "$3.spv" | sed 's/ *\([0-9a-f]\{8\}\)/0x\1, /g' > "$3"
