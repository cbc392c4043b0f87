import Foundation
import Measuring
import RawSQLite

/// Starts a process for each measurement and puts together what they find.
@main
struct Program {
    static func main() {
        do {
            let words = Array(CommandLine.arguments.dropFirst())
            if words.contains("--help") || words.contains("-h") {
                print(Arguments.usage)
                return
            }
            let arguments = try Arguments(words)
            if let child = arguments.child {
                try Children(folder: URL(fileURLWithPath: arguments.folder), rounds: arguments.rounds).run(child)
            } else {
                try Program(arguments: arguments).run()
            }
        } catch {
            FileHandle.standardError.write(Data("benchmarks: \(error)\n".utf8))
            exit(1)
        }
    }

    let arguments: Arguments

    private func run() throws {
        let folder = URL(fileURLWithPath: arguments.folder)
            .appendingPathComponent("core-data-benchmarks-\(ProcessInfo.processInfo.processIdentifier)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let children = Children(folder: folder, rounds: arguments.rounds)
        var report = Report(machine: Machine(sqlite: String(cString: raw_sqlite_version())))
        print(report.machine.summary)
        try measureWorkloads(children, into: &report)
        try measureSharing(children, into: &report)
        try measureObjects(children, into: &report)
        if arguments.measuresStartUp {
            progress("W14")
            report.startUp = try children.start(["start-up"], rows: 1)
        }
        try measureGrowth(children, into: &report)
        for kind in arguments.calls {
            progress(kind.rawValue)
            report.calls.append(try children.start(["call", kind.rawValue], rows: 1))
        }
        for kind in arguments.features {
            let isMany = arguments.includesMillion && kind.isMeasuredWithMillion
            for rows in arguments.rows + (isMany ? [1_000_000] : []) {
                progress("\(kind.rawValue) \(Report.grouped(rows))")
                report.features.append(try children.start(["feature", kind.rawValue], rows: rows))
            }
        }
        show(report)
        if let json = arguments.json { try report.encoded().write(to: URL(fileURLWithPath: json)) }
    }

    private func measureWorkloads(_ children: Children, into report: inout Report) throws {
        for workload in arguments.workloads {
            for rows in arguments.rows {
                try children.stores.prepare(workload.contents, rows: rows)
                progress("\(workload.rawValue) \(Report.grouped(rows))")
                var result: WorkloadResult = try children.start(["time", workload.rawValue], rows: rows)
                if arguments.measuresPeaks {
                    for side in SideName.allCases where result.samples[side.rawValue] != nil {
                        let peak: Int = try children.start(["peak", workload.rawValue, side.rawValue], rows: rows)
                        result.peaks[side.rawValue] = peak
                    }
                }
                report.workloads.append(result)
            }
        }
    }

    private func measureObjects(_ children: Children, into report: inout Report) throws {
        guard arguments.measuresObjects else { return }
        let most = arguments.rows.max() ?? 100_000
        for rows in arguments.includesMillion ? [most, 1_000_000] : [most] {
            try children.stores.prepare(.full, rows: rows)
            for kind in ObjectKind.allCases {
                for side in [SideName.ours, .grdb] where kind == .realised || side == .ours {
                    progress("W13 \(kind.rawValue) \(side.rawValue) \(Report.grouped(rows))")
                    report.memory.append(try children.start(["hold", kind.rawValue, side.rawValue], rows: rows))
                }
            }
        }
    }

    /// W12 with the most rows; more do not change what reader and writer have in common.
    private func measureSharing(_ children: Children, into report: inout Report) throws {
        guard arguments.measuresSharing else { return }
        let rows = max(arguments.rows.max() ?? 0, SharedWork.readRows)
        try children.stores.prepare(.full, rows: rows)
        progress("W12 \(Report.grouped(rows))")
        report.sharing = try children.start(["sharing"], rows: rows)
    }

    /// Every step in a process of its own, until one would take too long.
    private func measureGrowth(_ children: Children, into report: inout Report) throws {
        for kind in arguments.growth {
            var result = GrowthResult(kind: kind)
            for count in kind.counts ?? arguments.rows + (arguments.includesMillion ? [1_000_000] : []) {
                if result.isTooLong(count) {
                    result.skipped.append(count)
                } else {
                    progress("\(kind.rawValue) \(Report.grouped(count))")
                    result.points.append(try children.start(["growth", kind.rawValue], rows: count))
                }
            }
            report.growth.append(result)
        }
    }

    private func show(_ report: Report) {
        if !report.workloads.isEmpty { print("\n" + report.workloadTable(arguments.time)) }
        if !report.sharing.isEmpty { print("\n" + report.sharingTable) }
        if !report.memory.isEmpty { print("\n" + report.memoryTable) }
        if report.startUp != nil { print("\n" + report.startUpTable) }
        if !report.growth.isEmpty { print("\n" + report.growthTable) }
        if !report.calls.isEmpty { print("\n" + report.callTable) }
        if !report.features.isEmpty { print("\n" + report.featureTable) }
        let notes = report.workloads.compactMap(\.note)
        if !notes.isEmpty { print("\nFewer rounds:\n" + notes.joined(separator: "\n")) }
        showVerdicts(report)
    }

    private func showVerdicts(_ report: Report) {
        let uneven = report.growth.filter { !$0.isFlat }.map(\.kind.rawValue)
        if !uneven.isEmpty { print("\nNot flat: \(uneven.joined(separator: ", ")).") }
        let dear = report.calls.filter { $0.meetsGoal == false }.map(\.kind.rawValue)
        if !dear.isEmpty { print("\nCalls not yet at the goal: \(dear.joined(separator: ", ")).") }
        let slow = report.features.filter { $0.rows == 100_000 && !$0.meetsGoal }.map(\.kind.rawValue)
        if !slow.isEmpty { print("\nFeatures not yet at the goal at 100,000 rows: \(slow.joined(separator: ", ")).") }
        let judged = report.workloads.filter { $0.rows == 100_000 && $0.meetsGoal(arguments.time) != nil }
        guard !judged.isEmpty else { return }
        let missed = judged.filter { $0.meetsGoal(arguments.time) == false }.map(\.workload.rawValue)
        print(
            missed.isEmpty
                ? "\nAll goals are met at 100,000 rows."
                : "\nNot yet at the goal at 100,000 rows: \(missed.joined(separator: ", ")).")
    }

    private func progress(_ text: String) {
        FileHandle.standardError.write(Data("\(text) …\n".utf8))
    }
}
