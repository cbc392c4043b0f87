import ArgumentParser
import CoreDataSync
import CoreDataSyncSimulation
import Foundation

/// `coredata sync simulate`
struct SyncSimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Tests synchronisation: random edits on several devices in one process.",
        usage: "coredata sync simulate [<options>]",
        discussion: """
            Makes random models, devices and edits from a seed, with places that fail, devices that die, are copied and \
            restored, and clocks that are wrong. Afterwards all devices must be equal, and no write may be lost. A scenario that \
            fails is made as short as possible, and printed as a script and as a test. It uses no store of yours; its stores are \
            in a temporary folder.

            EXIT CODES
              0  no scenario failed
              1  a scenario failed: see its script

            EXAMPLES
              coredata sync simulate --edits 10000
              coredata sync simulate --edits 1000 --seed 17 --hazards deaths,restores
              coredata sync simulate --edits 1000000 --seed 5000 --devices 4 --json
            """)

    @Option(help: ArgumentHelp("Stop after this number of edits.", valueName: "number"))
    var edits = 10_000

    @Option(help: ArgumentHelp("The seed of the first scenario; each further one has the next.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("The number of devices; without it from 2 to 4.", valueName: "number"))
    var devices: Int?

    @Option(
        help: ArgumentHelp(
            "What happens beside edits, comma-separated: \(Self.names), all or none.", valueName: "words"))
    var hazards = "all"

    @Option(help: ArgumentHelp("The number of edits of one scenario.", valueName: "number"))
    var portion = 1_000

    @Flag(help: "Print a failing scenario as it is, without making it shorter.")
    var noShrinking = false

    @Flag(help: "Print the result as JSON.")
    var json = false

    private static var names: String { ScenarioPlan.Hazard.allCases.map(\.rawValue).joined(separator: ", ") }

    func validate() throws {
        guard edits > 0, portion > 0 else { throw ValidationError("--edits and --portion must be at least 1.") }
        guard devices.map({ (1...50).contains($0) }) ?? true else {
            throw ValidationError("--devices must be from 1 to 50.")
        }
        _ = try parsedHazards()
    }

    private func parsedHazards() throws -> Set<ScenarioPlan.Hazard> {
        if hazards == "all" { return Set(ScenarioPlan.Hazard.allCases) }
        if hazards == "none" || hazards.isEmpty { return [] }
        return Set(
            try hazards.split(separator: ",").map { word in
                let name = word.trimmingCharacters(in: .whitespaces)
                guard let hazard = ScenarioPlan.Hazard(rawValue: name) else {
                    throw ValidationError("\"\(name)\" is no hazard; write some of \(Self.names), all or none.")
                }
                return hazard
            })
    }

    func run() throws {
        let series = SimulationSeries(
            edits: edits, seed: seed, devices: devices, hazards: try parsedHazards(), portion: portion)
        let (shrinks, seed) = (!noShrinking, seed)
        let report = try WaitedTask.run {
            await series.run(shrinks: shrinks) { report in
                guard report.scenarios % 100 == 0 else { return }
                Terminal.note("\(report.edits) edits, next seed \(seed + UInt64(report.scenarios))")
            }
        }
        print(try json ? JSONOutput.text(report) : Self.lines(report).joined(separator: "\n"))
        if report.failure != nil { throw ExitCode(1) }
    }

    private static func lines(_ report: SimulationSeries.Report) -> [String] {
        var lines = [
            "\(Grouped.text(report.edits, "edit")) in \(Grouped.text(report.scenarios, "scenario")), "
                + "\(Grouped.text(report.exchanges, "exchange")), of which "
                + "\(Grouped.text(report.interruptions)) were interrupted",
            "\(Grouped.text(report.objects, "object")) at the end, \(Grouped.text(report.conflicts, "conflict"))",
        ]
        guard let failure = report.failure else { return lines + ["No scenario failed."] }
        lines += ["", "SEED \(failure.seed) FAILED: \(failure.kind)"] + failure.details
        return lines + ["", "SCRIPT", failure.script, "", "TEST", failure.test]
    }
}
