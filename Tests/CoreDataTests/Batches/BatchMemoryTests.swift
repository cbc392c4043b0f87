import Foundation
import TestSupport
import Testing

/// What a batch request takes does not grow with its rows, where only their number is wanted.
@Suite struct BatchMemoryTests {
    /// Kilobytes that a step took beyond what the process had before it.
    private func growth(_ step: String, _ count: Int, _ store: URL, history: Bool) throws -> Int {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("BatchProgram")
        process.arguments = [store.path, step, "\(count)", history ? "history" : "plain"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(numbers.count == 3, "\(text)")
        return numbers[1] - numbers[0]
    }

    @Test(
        "N1 to N4: ten times the rows take no more memory, with and without a history",
        .enabled(if: !Sanitizer.keepsWhatIsFreed, "the address sanitizer keeps what is freed"),
        arguments: Trials.some(of: [false, true]))
    func memoryDoesNotGrow(history: Bool) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("batches-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (few, many) = (4_000, 40_000)
        for (first, last) in Trials.some(of: [("insert", "delete"), ("objects", "cascade"), ("rows", "cascade")]) {
            for step in [first, "update", last] {
                let small = try growth(step, few, folder.appendingPathComponent("\(first) few"), history: history)
                let large = try growth(step, many, folder.appendingPathComponent("\(first) many"), history: history)
                #expect(large - small < 3_000, "\(step): \(small) KB for \(few) rows, \(large) KB for \(many)")
            }
        }
    }
}
