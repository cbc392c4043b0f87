#!/usr/bin/env bash
# Makes sure that the build finds a Swift toolchain and the headers of SQLite, OpenSSL, zlib, expat and libpq, and the programs that are
# named as arguments (valgrind); installs them where apt-get can.
set -euo pipefail

if ! command -v swift >/dev/null 2>&1; then
    echo "error: no 'swift' in PATH. Install Swift 6.3 or later from https://www.swift.org/install/linux/." >&2
    exit 1
fi

# The system's own folders first: asking the compiler costs half a second.
has_header() {
    for folder in /usr/include /usr/local/include /opt/homebrew/include; do
        [ -e "$folder/$1" ] && return 0
    done
    local compiler
    compiler=$(command -v clang || command -v cc) || return 1
    printf '#include <%s>\n' "$1" | "$compiler" -E - >/dev/null 2>&1
}

missing=()
has_header sqlite3.h || missing+=(libsqlite3-dev)
has_header openssl/sha.h || missing+=(libssl-dev)
has_header zlib.h || missing+=(zlib1g-dev)
has_header expat.h || missing+=(libexpat1-dev)
# Debian's lie in a folder that pkg-config knows.
has_header libpq-fe.h || has_header postgresql/libpq-fe.h || missing+=(libpq-dev)
for program in "$@"; do
    # Debian's package is named as the program, and keeps those of servers to itself.
    [ "$program" = postgresql ] && compgen -G "/usr/lib/postgresql/*/bin/postgres" >/dev/null && continue
    [ "$program" = postgresql ] && command -v postgres >/dev/null 2>&1 && continue
    command -v "$program" >/dev/null 2>&1 || missing+=("$program")
done
[ ${#missing[@]} -eq 0 ] && exit 0

root=()
[ "$(id -u)" -eq 0 ] || root=(sudo -n)
if command -v apt-get >/dev/null 2>&1 && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }; then
    echo "Installing ${missing[*]} …"
    # The lists of packages are old or absent on a fresh machine; without them the install would fail.
    if "${root[@]}" apt-get update -qq &&
        "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; then
        exit 0
    fi
fi

echo "error: missing ${missing[*]} and they could not be installed from here." >&2
echo "Install them, for example with: sudo apt-get install -y ${missing[*]}" >&2
echo "(Fedora: sqlite-devel openssl-devel zlib-devel expat-devel libpq-devel; Alpine: sqlite-dev openssl-dev zlib-dev expat-dev libpq-dev; macOS with Homebrew: sqlite openssl zlib expat libpq.)" >&2
exit 1
