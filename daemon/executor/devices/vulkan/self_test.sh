#!/bin/sh
# The driver's self-test, for numbers of so many bits where it is of any, as words for a C array.
# Usage: self_test.sh SOURCE BITS OUT
set -eu
capability=
[ "$2" = 64 ] && capability='OpCapability Float64'
sed -e "s/@width@/$2/; s/@bytes@/$(($2 / 8))/; s/@stride@/$2/; s/@count@/64/; s/@capability@/$capability/" "$1" |
    spirv-as --target-env vulkan1.2 - -o "$3.spv"
spirv-val --target-env vulkan1.2 "$3.spv"
od -v -An -tx4 "$3.spv" | sed 's/ *\([0-9a-f]\{8\}\)/0x\1, /g' > "$3"
