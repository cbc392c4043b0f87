#!/usr/bin/env bash
# Writes the reference of the modules CoreData and SwiftData as a static website. Usage: Scripts/docs.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."

output=${1:-.build/docs}
graphs=.build/symbol-graphs
docc=$(command -v docc || echo "$(dirname "$(readlink -f "$(command -v swift)")")/docc")
[ -x "$docc" ] || { echo "error: no 'docc' beside swift; it is part of the toolchain of swift.org." >&2; exit 1; }

rm -rf "$graphs" && mkdir -p "$graphs/all"
# Its own scratch folder, so that every file is compiled and says what it declares.
for module in CoreData SwiftData; do
    swift build --scratch-path .build/documentation --target "$module" \
        -Xswiftc -emit-symbol-graph -Xswiftc -emit-symbol-graph-dir -Xswiftc "$PWD/$graphs/all"
done
for module in CoreData SwiftData; do
    mkdir -p "$graphs/$module"
    cp "$graphs/all/$module.symbols.json" "$graphs/all/$module"@*.symbols.json "$graphs/$module/" 2>/dev/null || true
    "$docc" convert --warnings-as-errors "Sources/$module/$module.docc" \
        --additional-symbol-graph-dir "$graphs/$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "OpenCoreData.$module" \
        --output-path "$graphs/$module.doccarchive"
done
rm -rf "$output"
"$docc" merge "$graphs/CoreData.doccarchive" "$graphs/SwiftData.doccarchive" --output-path "$output"
echo "Written to $output. To read it, run: python3 -m http.server 8000 --directory $output"
# The website has no page at its root.
echo "Then open http://localhost:8000/documentation/coredata/ or http://localhost:8000/documentation/swiftdata/"
