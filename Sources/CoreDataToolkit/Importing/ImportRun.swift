import CoreData
import Foundation

/// An import from the first record of its first file to the last record of its last file.
package struct ImportRun {
    private let sources: [ImportSource]
    package private(set) var builders: DraftBuilders
    private let saver: DraftSaver
    private let batchSize: Int
    private let skipsInvalid: Bool
    package private(set) var summary = ImportSummary()
    /// Called after each batch with the fraction of all records that was read, and the number of imported records.
    package var progress: ((_ fraction: Double, _ records: Int) -> Void)?
    /// Called between two batches; an error that it throws ends the import.
    package var checkContinuing: (() throws -> Void)?
    /// Called for each skipped invalid record, with their number so far.
    package var skipped: ((_ failure: RecordFailure, _ count: Int) -> Void)?
    /// The maximum number of invalid records in the summary; others are only counted.
    private static let listed = 20

    /// - Parameter context: a context that only the import uses.
    package init(
        _ sources: [ImportSource], builders: DraftBuilders, into context: NSManagedObjectContext,
        uniques: UniqueAttributes, batchSize: Int, skipsInvalid: Bool, keepsExisting: Bool = false
    ) {
        self.sources = sources
        self.builders = builders
        saver = DraftSaver(context, uniques: uniques, keepsExisting: keepsExisting)
        self.batchSize = batchSize
        self.skipsInvalid = skipsInvalid
    }

    /// - Throws: the first failure; batches that were saved before remain, see the summary.
    package mutating func run() throws {
        let start = ContinuousClock.now
        var batch: [DraftSaver.Entry] = []
        var room = batchSize
        for (place, source) in sources.enumerated() {
            var reader = try source.makeReader()
            while let entry = try next(&reader, of: source) {
                batch.append(entry)
                guard batch.count >= room else { continue }
                // A batch that waits for records grows, since these may be far away in the file.
                room = try save(&batch, isLast: false) ? batchSize : batch.count * 2
                let fraction = (Double(place) + reader.fractionRead) / Double(sources.count)
                progress?(fraction, summary.records)
                try checkContinuing?()
            }
        }
        _ = try save(&batch, isLast: true)
        let later = try saver.linkLater()
        summary.add(later.counts)
        summary.missing = later.missing.sorted()
        for plan in builders.plans { summary.ignoredFields.merge(plan.ignoredFields, uniquingKeysWith: +) }
        let duration = ContinuousClock.now - start
        summary.seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
        progress?(1, summary.records)
    }

    /// Returns the draft of the next valid record.
    private mutating func next(
        _ reader: inout any RecordReader, of source: ImportSource
    ) throws -> DraftSaver.Entry? {
        while true {
            do {
                guard let record = try reader.next() else { return nil }
                do {
                    let draft = try builders.draft(record, of: source)
                    return DraftSaver.Entry(draft: draft, number: record.number, line: record.line, file: source.name)
                } catch let failure as ToolkitError {
                    try reject(
                        RecordFailure(
                            file: source.name, line: record.line, number: record.number, message: failure.message))
                }
            } catch let failure as RecordFailure where failure.isRecoverable && skipsInvalid {
                skip(failure)
            }
        }
    }

    /// - Returns: whether the batch was saved; it is then empty.
    private mutating func save(_ batch: inout [DraftSaver.Entry], isLast: Bool) throws -> Bool {
        while !batch.isEmpty {
            switch try saver.save(batch, isLast: isLast) {
            case .waiting: return false
            case .saved(let counts):
                summary.add(counts)
                summary.records += batch.count
                batch.removeAll(keepingCapacity: true)
            case .rejected(let rejections):
                var rejected: Set<ObjectIdentifier> = []
                for rejection in rejections
                where rejected.insert(ObjectIdentifier(rejection.entry.draft)).inserted {
                    try reject(
                        RecordFailure(
                            file: rejection.entry.file, line: rejection.entry.line, number: rejection.entry.number,
                            message: rejection.message))
                }
                batch.removeAll { rejected.contains(ObjectIdentifier($0.draft)) }
            }
        }
        return true
    }

    private mutating func reject(_ failure: RecordFailure) throws {
        guard skipsInvalid else { throw failure }
        skip(failure)
    }

    private mutating func skip(_ failure: RecordFailure) {
        summary.skipped += 1
        if summary.failures.count < Self.listed { summary.failures.append(failure) }
        skipped?(failure, summary.skipped)
    }
}
