#!/usr/bin/env bash
# What it costs to build: seconds of the processor for a clean `make shopping-list` and `make run`, and for an app that depends on the package, and
# how large the app is. The work tree is copied to FOLDER (a new temporary one), so that nothing built before counts; fetching packages does not count.
#
#     Scripts/build-cost.sh [FOLDER]        COSTS="run web" for some of: run web app-debug app-release
#
# Seconds of the processor (user and system, of all processes) tell more than the clock where others use the machine too.
set -euo pipefail
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
costs=${COSTS:-run web app-debug app-release}
folder=${1:-$(mktemp -d)}
package=$folder/OpenCoreData
app=$folder/App
export TIMEFORMAT='%U %S %R'

# What git knows of, with changes that are not committed yet.
rm -rf "$package" "$app"
mkdir -p "$package" "$app/Sources"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    if [ -e "$file" ] || [ -L "$file" ]; then printf '%s\0' "$file"; fi
done | tar -c --null -T - | tar -x -C "$package"

# The README's app, in a package that has nothing else.
cp -R Examples/Apps/Sources/Groceries "$app/Sources/"
cat >"$app/Package.swift" <<'MANIFEST'
// swift-tools-version: 6.0

import PackageDescription

let package = Package(
    name: "App",
    dependencies: [.package(name: "OpenCoreData", path: "../OpenCoreData")],
    targets: [
        .executableTarget(
            name: "Groceries",
            dependencies: [.product(name: "CoreData", package: "OpenCoreData")],
            plugins: [.plugin(name: "CoreDataModelPlugin", package: "OpenCoreData")])
    ],
    swiftLanguageModes: [.v6]
)
MANIFEST

# cost NAME COMMAND…: runs it and says what it took; the output is kept beside the copies.
cost() {
    local name=$1 seconds
    shift
    { time "$@" >"$folder/$name.log" 2>&1; } 2>"$folder/$name.time" || {
        tail -n 20 "$folder/$name.log" >&2
        return 1
    }
    seconds=$(tail -n 1 "$folder/$name.time")
    echo "$name: $(awk '{ printf "%.0f s of the processor, %.0f s by the clock", $1 + $2, $3 }' <<<"$seconds")"
}

size() { echo "$1: $(stat -c %s "$2" 2>/dev/null || stat -f %z "$2") bytes"; }

for what in $costs; do
    case $what in
    run)
        $swift package --package-path "$package" resolve >/dev/null 2>&1
        cost run make -C "$package" shopping-list SWIFT="$swift"
        ;;
    web)
        $swift package --package-path "$package/Examples" resolve >/dev/null 2>&1
        # Builds the app, starts it, asks it for its pages and ends it.
        cost web make -C "$package" run ARGS=--check SWIFT="$swift"
        ;;
    app-debug | app-release)
        configuration=${what#app-}
        $swift package --package-path "$app" resolve >/dev/null 2>&1
        cost "$what" $swift build --package-path "$app" --scratch-path "$app/.build/$configuration" -c "$configuration"
        executable=$($swift build --package-path "$app" --scratch-path "$app/.build/$configuration" -c "$configuration" --show-bin-path)/Groceries
        size "$what, executable" "$executable"
        strip -o "$folder/stripped" "$executable"
        size "$what, executable without symbols" "$folder/stripped"
        ;;
    *) echo "error: what is '$what'?" >&2 && exit 2 ;;
    esac
done
