import Foundation

/// One import from the first record to the last.
struct ImportRun {
    private var reader: any RecordReader
    private let fileName: String
    private var drafts: DraftBuilder
    private let importer: Importer
    private let batchSize: Int
    private let skipsInvalid: Bool
    private(set) var summary = ImportSummary()
    /// How many invalid records are listed; the rest is only counted.
    private static let listed = 20

    init(
        reader: any RecordReader, fileName: String, drafts: DraftBuilder, importer: Importer, batchSize: Int,
        skipsInvalid: Bool
    ) {
        self.reader = reader
        self.fileName = fileName
        self.drafts = drafts
        self.importer = importer
        self.batchSize = batchSize
        self.skipsInvalid = skipsInvalid
    }

    /// - Throws: the first failure; what was saved before it stays, and the message says how much that is.
    mutating func run() throws {
        let start = ContinuousClock.now
        var progress = ProgressBar("Importing", unit: "records")
        defer { progress.finish() }
        do {
            var batch: [Importer.Entry] = []
            while let entry = try next() {
                batch.append(entry)
                if batch.count == batchSize {
                    try save(&batch)
                    progress.update(fraction: reader.fractionRead, count: summary.records)
                }
            }
            try save(&batch)
        } catch {
            progress.finish()
            let saved = Grouped.text(summary.records)
            throw ToolFailure(
                ErrorText.describe(error)
                    + (summary.records == 0 ? "\nNothing was imported." : "\n\(saved) records before it stay imported.")
            )
        }
        let duration = ContinuousClock.now - start
        summary.seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }

    /// Says which fields and `--map` options were for nothing.
    func noteUnusedFields() {
        for (field, count) in drafts.plan.ignoredFields.sorted(by: { $0.key < $1.key }) {
            let names = Array(drafts.plan.entity.propertiesByName.keys)
            Terminal.note(
                "note: the field '\(field)' of \(Grouped.text(count)) records was left out: no property has that name"
                    + Suggestion.text(for: field, among: names))
        }
        for field in drafts.plan.unusedMaps {
            Terminal.note("note: --map \(field)=… was for nothing: no record has the field '\(field)'")
        }
    }

    /// The draft of the next record that makes one.
    private mutating func next() throws -> Importer.Entry? {
        while true {
            do {
                guard let record = try reader.next() else { return nil }
                do {
                    return Importer.Entry(draft: try drafts.draft(record), number: record.number, line: record.line)
                } catch let failure as ToolFailure {
                    try reject(failure.message, line: record.line, number: record.number)
                }
            } catch let failure as RecordFailure where failure.isRecoverable && skipsInvalid {
                skip(failure)
            }
        }
    }

    private mutating func save(_ batch: inout [Importer.Entry]) throws {
        while !batch.isEmpty {
            let result = try importer.save(batch)
            guard let first = result.rejections.first else {
                summary.add(result.counts)
                summary.records += batch.count
                break
            }
            if !skipsInvalid { try reject(first.message, line: first.entry.line, number: first.entry.number) }
            var rejected: Set<Int> = []
            for rejection in result.rejections where rejected.insert(rejection.entry.number).inserted {
                skip(failure(rejection.message, line: rejection.entry.line, number: rejection.entry.number))
            }
            batch.removeAll { rejected.contains($0.number) }
        }
        batch.removeAll(keepingCapacity: true)
    }

    private mutating func reject(_ message: String, line: Int, number: Int) throws {
        let failure = failure(message, line: line, number: number)
        guard skipsInvalid else { throw failure }
        skip(failure)
    }

    private func failure(_ message: String, line: Int, number: Int) -> RecordFailure {
        RecordFailure(file: fileName, line: line, number: number, message: message)
    }

    private mutating func skip(_ failure: RecordFailure) {
        summary.skipped += 1
        if summary.skipped <= Self.listed {
            Terminal.note("skipped: \(failure)")
        } else if summary.skipped == Self.listed + 1 {
            Terminal.note("skipped: more records are invalid; they are counted, not listed")
        }
    }
}
