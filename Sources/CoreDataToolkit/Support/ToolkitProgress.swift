/// How far long work is: told after each batch.
///
///     try await importer.importRecords(from: .file(url), as: "Item") { progress in
///         print("\(Int(progress.fractionCompleted * 100)) %, \(progress.count) records")
///     }
public struct ToolkitProgress: Hashable, Sendable {
    /// How much is done, from 0 to 1; an estimate where the whole is not known before.
    public var fractionCompleted: Double
    /// How many records, objects or bytes are done.
    public var count: Int

    /// Makes a report of that state.
    public init(fractionCompleted: Double, count: Int) {
        self.fractionCompleted = min(max(fractionCompleted, 0), 1)
        self.count = count
    }
}

/// Who is told of progress; on whatever thread does the work.
public typealias ProgressHandler = @Sendable (ToolkitProgress) -> Void
