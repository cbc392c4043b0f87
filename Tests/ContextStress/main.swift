import CoreData
import Foundation

/// Edits one store from eight contexts on four threads, children among them, as one of two processes that do, and says what it knows
/// was saved.
///
///     ContextStress create <store>
///     ContextStress run <store> <seconds> <seed> <name> <report>     // edits, then writes what must be there to the report
///     ContextStress check <store> <report> <report>                  // compares the store with what the reports say
///
/// Exit code 1: something was lost, added or left behind; 3: a thread stood still.
func run() throws {
    let words = Array(CommandLine.arguments.dropFirst())
    switch words.first {
    case "create" where words.count == 2:
        let stack = try StressStack(at: URL(fileURLWithPath: words[1]))
        try stack.fill()
        try stack.close()
    case "run" where words.count == 6:
        guard let seconds = Double(words[2]), let seed = UInt64(words[3]) else { throw StressFailure("no numbers") }
        let report = try autoreleasing {
            try StressRun(URL(fileURLWithPath: words[1]), seconds: seconds, seed: seed, name: words[4]).run()
        }
        try JSONEncoder().encode(report).write(to: URL(fileURLWithPath: words[5]))
    case "check" where words.count == 4:
        let reports = try words[2...].map {
            try JSONDecoder().decode(StressReport.self, from: Data(contentsOf: URL(fileURLWithPath: $0)))
        }
        try StressCheck(URL(fileURLWithPath: words[1]), reports).run()
    default:
        throw StressFailure("usage: ContextStress create|run|check <store> …")
    }
}

/// What `body` leaves on the stack is gone when this returns.
@inline(never)
func autoreleasing<R>(_ body: () throws -> R) rethrows -> R { try body() }

struct StressFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

do {
    try run()
} catch {
    FileHandle.standardError.write(Data("ContextStress: \(error)\n".utf8))
    exit(1)
}
