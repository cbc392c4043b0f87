#!/usr/bin/env bash
# Builds every test with a sanitizer and runs them: Scripts/sanitize.sh address|thread [flags of swift build].
set -euo pipefail
cd "$(dirname "$0")/.."

kind=${1:?"usage: Scripts/sanitize.sh address|thread [flags]"}
shift
swift=${SWIFT:-swift}
# A folder of its own, so that neither sanitizer's build nor the plain one has to be made again for the other.
folder=".build-$kind"
flags=(--sanitize="$kind" --scratch-path "$folder" "$@")

"$swift" build "${flags[@]}" --build-tests

# What the tests start as programs of their own inherits the environment.
environment=(
    # Leaks are not looked for: Swift keeps marks in the free bits of pointers (indirect enums, weak references), and the
    # leak sanitizer takes what only such a pointer refers to for lost. It reports every constant that is such an enum.
    ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
    # Swift's own report of a crash does not come to an end in a process with a sanitizer, which reports better anyway.
    SWIFT_BACKTRACE="enable=no"
    # What a test cannot do under one of them.
    COREDATA_SANITIZER="$kind"
)
if [ "$kind" = thread ] && [ "$(uname)" = Linux ]; then
    # Swift's own clang: no other need know the calling convention.
    clang="$(dirname "$(command -v "$swift")")/clang"
    [ -x "$clang" ] || clang=clang
    "$clang" -shared -fPIC -O1 -Wall -Wextra -Werror -o "$folder/mutex.so" Scripts/thread-sanitizer.c
    environment+=(LD_PRELOAD="$PWD/$folder/mutex.so${LD_PRELOAD:+:$LD_PRELOAD}")
fi
env "${environment[@]}" Scripts/run-tests.py --silence 30 "$("$swift" build "${flags[@]}" --show-bin-path)/OpenCoreDataPackageTests.xctest"
