import FileOperations
import Foundation
import MigrationScenarios

/// Does to stores what a process may be killed in the middle of, and kills itself there, or has the disk fail it.
///
///     MigrationKiller lightweight <folder> 0        // does it, and prints at how many points it can be killed
///     MigrationKiller lightweight <folder> 17       // is killed in place of the 17th change of a file
///     MigrationKiller lightweight <folder> 17 half  // the same with half of what was to be written
///     MigrationKiller lightweight <folder> 17 fail  // the 17th change fails; what comes of that is printed
///     MigrationKiller lightweight <folder> 17 full  // from the 17th change on the disk is full
///     MigrationKiller lightweight <folder> 17 stop  // stops itself before the 17th change, until it gets SIGCONT
///     MigrationKiller lightweight <folder> 17 stop-fail  // the same, and the 17th change fails then
func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 4, let scenario = MigrationScenario(rawValue: arguments[1]),
        let number = Int64(arguments[3])
    else {
        FileHandle.standardError.write(
            Data("usage: MigrationKiller <scenario> <folder> <number> [half | fail | full | stop | stop-fail]\n".utf8))
        exit(2)
    }
    let end: file_operations_end =
        switch arguments.count > 4 ? arguments[4] : "" {
        case "half": file_operations_kill_half
        case "fail": file_operations_fail
        case "full": file_operations_full
        case "stop": file_operations_stop
        case "stop-fail": file_operations_stop_and_fail
        default: file_operations_kill
        }
    file_operations_begin(number, end)
    try scenario.run(URL(fileURLWithPath: arguments[2]))
    FileHandle.standardOutput.write(Data("\(file_operations_count())\n".utf8))
}

do {
    try run()
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
