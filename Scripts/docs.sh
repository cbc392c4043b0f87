#!/usr/bin/env bash
# Writes the reference of module CoreData as a static website. Usage: Scripts/docs.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."

output=${1:-.build/docs}
graphs=.build/symbol-graphs
docc=$(command -v docc || echo "$(dirname "$(readlink -f "$(command -v swift)")")/docc")
[ -x "$docc" ] || { echo "error: no 'docc' beside swift; it is part of the toolchain of swift.org." >&2; exit 1; }

rm -rf "$graphs" && mkdir -p "$graphs/all" "$graphs/public"
# Its own scratch folder, so that every file is compiled and says what it declares.
swift build --scratch-path .build/documentation --target CoreData \
    -Xswiftc -emit-symbol-graph -Xswiftc -emit-symbol-graph-dir -Xswiftc "$PWD/$graphs/all"
cp "$graphs"/all/CoreData.symbols.json "$graphs"/all/CoreData@*.symbols.json "$graphs/public/" 2>/dev/null || true

"$docc" convert --warnings-as-errors ${CATALOG:-$( [ -d Sources/CoreData/CoreData.docc ] && echo Sources/CoreData/CoreData.docc )} \
    --additional-symbol-graph-dir "$graphs/public" \
    --fallback-display-name CoreData --fallback-bundle-identifier OpenCoreData.CoreData \
    --output-path "$output"
echo "Written to $output. To read it, run: python3 -m http.server 8000 --directory $output"
# The website has no page at its root.
echo "Then open http://localhost:8000/documentation/coredata/"
