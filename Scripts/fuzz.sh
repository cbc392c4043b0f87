#!/usr/bin/env bash
# Feeds every reader of files with broken ones, for FUZZ_SECONDS (60) each; FUZZ_READERS names some of them only.
#
#     FUZZ_SECONDS=600 FUZZ_READERS="model-xml store" Scripts/fuzz.sh
#
# What breaks a reader is kept in Fuzzing/.build/found and belongs into a test. Exits with 1 where there is such a file.
set -euo pipefail
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
seconds=${FUZZ_SECONDS:-60}
jobs=${FUZZ_JOBS:-$(nproc)}
corpora=Fuzzing/.build/corpus
export found=Fuzzing/.build/found
mkdir -p "$corpora" "$found"

# Optimised, with the traps for overflow and indices that debug builds have too.
touch Fuzzing/Package.swift
$swift build --package-path Fuzzing -c release --product fuzz
fuzz="$($swift build --package-path Fuzzing -c release --show-bin-path)/fuzz"
readers=${FUZZ_READERS:-$("$fuzz" readers)}

run() {
    local reader=$1 log=$found/$1.log result=0
    "$fuzz" seeds "$reader" "$corpora/$reader"
    # Swift's own report of a crash would wait for a debugger.
    FUZZ_READER=$reader SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=32 \
        "$fuzz" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3072 -max_len=300000 \
        -artifact_prefix="$found/$reader-" -print_final_stats=1 "$corpora/$reader" >"$log" 2>&1 || result=$?
    local runs
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [ "$result" = 0 ]; then
        echo "$reader: ${runs:-0} files, nothing found"
    else
        echo "$reader: BROKEN; see $log"
        grep -m 3 -E 'SUMMARY|Fatal error|Test unit written' "$log" || tail -n 5 "$log"
        return 1
    fi
}
export -f run
export fuzz seconds corpora
# shellcheck disable=SC2086  # a list of words
printf '%s\n' $readers | xargs -P "$jobs" -I{} bash -c 'run {} || exit 1'
