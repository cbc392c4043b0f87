import FileOperations
import Foundation
import MigrationScenarios

/// Does to stores what a process may be killed in the middle of, and kills itself there.
///
///     MigrationKiller lightweight <folder> 0        // does it, and prints at how many points it can be killed
///     MigrationKiller lightweight <folder> 17       // is killed in place of the 17th change of a file
///     MigrationKiller lightweight <folder> 17 half  // the same with half of what was to be written
func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 4, let scenario = MigrationScenario(rawValue: arguments[1]),
        let number = Int64(arguments[3])
    else {
        FileHandle.standardError.write(Data("usage: MigrationKiller <scenario> <folder> <number> [half]\n".utf8))
        exit(2)
    }
    file_operations_begin(number, arguments.count > 4 ? 1 : 0)
    try scenario.run(URL(fileURLWithPath: arguments[2]))
    FileHandle.standardOutput.write(Data("\(file_operations_count())\n".utf8))
}

do {
    try run()
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
