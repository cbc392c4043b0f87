/// The progress of long work, reported after each batch.
///
///     try await importer.importRecords(from: .file(url), as: "Item") { progress in
///         print("\(Int(progress.fractionCompleted * 100)) %, \(progress.count) records")
///     }
public struct ToolkitProgress: Hashable, Sendable {
    /// The completed fraction, from 0 to 1; an estimate if the total is unknown.
    public var fractionCompleted: Double
    /// The number of processed records, objects or bytes.
    public var count: Int

    /// Makes a progress report.
    public init(fractionCompleted: Double, count: Int) {
        self.fractionCompleted = min(max(fractionCompleted, 0), 1)
        self.count = count
    }
}

/// Receives progress, on the thread that does the work.
public typealias ProgressHandler = @Sendable (ToolkitProgress) -> Void
