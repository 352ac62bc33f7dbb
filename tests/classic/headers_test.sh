#!/usr/bin/env bash
# The classic headers, in each language that old programs are written in, without a warning.
#   headers_test.sh <source folder> <C compiler> <C++ compiler>       77: there is no such compiler
set -euo pipefail
source=$1 cc=$2 cxx=$3

for compiler in "$cc" "$cxx"; do
  if ! command -v "$compiler" >/dev/null; then
    echo "skipped: no $compiler here"
    exit 77
  fi
done

check() {  # compiler, language, standard, header
  printf '#include <%s>\nint main(%s) { return 0; }\n' "$4" "$([[ $2 == c ]] && echo void)" |
    "$1" -x "$2" -std="$3" -Wall -Wextra -pedantic -Werror -I"$source/include/compat" \
      -fsyntax-only -
}

for path in "$source"/include/compat/*.h; do
  header=$(basename "$path")
  for standard in c11 gnu99 gnu11 c17; do check "$cc" c $standard "$header"; done
  for standard in c++98 c++11 c++14 c++20 gnu++11; do check "$cxx" c++ $standard "$header"; done
done
# Every attribute does what its name says.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A program may have macros of its own.
words=(-Dpacked=ours -Dused=ours -Dweak=ours)
attributes() {  # compiler, language, standard
  "$1" -x "$2" -std="$3" -O2 -Wall -Wextra -pedantic -Werror "${words[@]}" \
    -I"$source/include/compat" "$source/tests/classic/attributes.c" -o "$work/attributes"
  [[ $("$work/attributes") == "after main" ]] || { echo "attributes: no DESTRUCTOR" && exit 1; }
  grep -aq "this text stays" "$work/attributes" || { echo "attributes: no USED" && exit 1; }
}
for standard in c11 gnu99 c17; do attributes "$cc" c $standard; done
for standard in c++11 gnu++11 c++20; do attributes "$cxx" c++ $standard; done
# Sizes, offsets and values, as a C and a C++ program see them.
abi() { "$1" -x "$2" -std="$3" -Werror -I"$source" -I"$source/include/compat" -fsyntax-only - ; }
for standard in c11 gnu11; do abi "$cc" c $standard <"$source/tests/classic/abi.c"; done
for standard in c++11 c++20; do abi "$cxx" c++ $standard <"$source/tests/classic/abi.c"; done
echo "every header stands alone, without a warning, with $cc and $cxx"
