import CrashConsistencyScenarios
import Foundation
import SystemCalls

/// Runs a scenario whose system calls are recorded, or one of which fails.
///
///     SystemCallsProgram record savesInLog <folder> <log>
///     SystemCallsProgram fail savesInLog <folder> 17 error    // full, error, interrupt or short; none with 0
///
/// It prints a line for each step that has returned (`mark 4`), for each one that has failed (`failed …`), and at the end
/// the kinds of the counted calls, then their number, the kind of the call that failed and the number of files that are
/// still open.
func run() throws {
    let arguments = CommandLine.arguments
    let failures: [String: system_calls_failure] = [
        "full": system_calls_full, "error": system_calls_error, "interrupt": system_calls_interrupt,
        "short": system_calls_short,
    ]
    guard arguments.count >= 5, let scenario = CrashScenario.named(arguments[2]) else {
        write("usage: SystemCallsProgram record|fail <scenario> <folder> …", to: .standardError)
        exit(2)
    }
    let folder = URL(fileURLWithPath: arguments[3])
    if arguments[1] == "record" {
        system_calls_record_to(folder.path, arguments[4])
    } else {
        guard let number = Int64(arguments[4]), let failure = failures[arguments.count > 5 ? arguments[5] : "error"]
        else {
            exit(2)
        }
        system_calls_fail_at(folder.path, number, failure)
    }
    let log = CrashLog { number in
        system_calls_append_mark(Int64(number))
        write("mark \(number)")
    } failed: {
        write("failed \("\($0)".replacing("\n", with: " "))")
    }
    defer {
        // Tasks of a synchronisation may end a moment later than the exchange.
        for _ in 0..<500 where system_calls_open_count() > 0 { usleep(2000) }
        let count = system_calls_count()
        if count > 0 { write("kinds \((1...count).map { "\(system_calls_kind_of($0))" }.joined(separator: " "))") }
        write("end \(system_calls_count()) \(system_calls_failed_kind()) \(system_calls_open_count())")
    }
    try scenario.run(folder, log)
}

func write(_ line: String, to file: FileHandle = .standardOutput) { file.write(Data((line + "\n").utf8)) }

do {
    try run()
} catch {
    write("\(error)", to: .standardError)
    exit(1)
}
