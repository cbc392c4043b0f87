import CoreData
import Foundation

/// One import from the first record of its first file to the last of its last.
struct ImportRun {
    private let sources: [ImportSource]
    private var builders: DraftBuilders
    private let importer: Importer
    private let batchSize: Int
    private let skipsInvalid: Bool
    private(set) var summary = ImportSummary()
    /// Relationships to objects that nothing came of.
    private(set) var missing: [String] = []
    /// How many invalid records are listed; the rest is only counted.
    private static let listed = 20

    init(
        _ sources: [ImportSource], builders: DraftBuilders, importer: Importer, batchSize: Int, skipsInvalid: Bool
    ) {
        self.sources = sources
        self.builders = builders
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
            var room = batchSize
            for (place, source) in sources.enumerated() {
                var reader = try source.makeReader()
                while let entry = try next(&reader, of: source) {
                    batch.append(entry)
                    guard batch.count >= room else { continue }
                    // A batch that waits for records grows: what it waits for may be far.
                    room = try save(&batch, isLast: false) ? batchSize : batch.count * 2
                    let fraction = (Double(place) + reader.fractionRead) / Double(sources.count)
                    progress.update(fraction: fraction, count: summary.records)
                }
            }
            _ = try save(&batch, isLast: true)
            let later = try importer.linkLater()
            summary.add(later.counts)
            missing = later.missing.sorted()
        } catch {
            progress.finish()
            let saved = Grouped.text(summary.records, "record before it stays", many: "records before it stay")
            let rest = summary.records == 0 ? "Nothing was imported." : "\(saved) imported."
            throw ToolFailure("\(ErrorText.describe(error))\n\(rest)")
        }
        let duration = ContinuousClock.now - start
        summary.seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }

    /// Says which fields and `--map` options were for nothing, and what relationships lead to that nobody knows.
    func noteLeftOut() {
        for plan in builders.plans {
            for (field, count) in plan.ignoredFields.sorted(by: { $0.key < $1.key }) {
                let names = Array(plan.entity.propertiesByName.keys)
                Terminal.note(
                    "note: the field '\(field)' of \(Grouped.text(count, "record")) was left out: no property has that name"
                        + Suggestion.text(for: field, among: names))
            }
            for field in plan.unusedMaps {
                Terminal.note("note: --map \(field)=… was for nothing: no record has the field '\(field)'")
            }
        }
        guard !missing.isEmpty else { return }
        Terminal.note(
            """
            note: left out \(Grouped.text(missing.count, "relationship")) to objects that are neither in the file nor in the \
            store: \(missing.prefix(3).joined(separator: ", "))\(missing.count > 3 ? ", …" : "")
            """)
    }

    /// The draft of the next record that makes one.
    private mutating func next(
        _ reader: inout any RecordReader, of source: ImportSource
    ) throws -> Importer.Entry? {
        while true {
            do {
                guard let record = try reader.next() else { return nil }
                do {
                    let draft = try builders.draft(record, of: source)
                    return Importer.Entry(draft: draft, number: record.number, line: record.line, file: source.name)
                } catch let failure as ToolFailure {
                    try reject(
                        RecordFailure(
                            file: source.name, line: record.line, number: record.number, message: failure.message))
                }
            } catch let failure as RecordFailure where failure.isRecoverable && skipsInvalid {
                skip(failure)
            }
        }
    }

    /// - Returns: whether the batch was saved; it is empty then.
    private mutating func save(_ batch: inout [Importer.Entry], isLast: Bool) throws -> Bool {
        while !batch.isEmpty {
            switch try importer.save(batch, isLast: isLast) {
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
        if summary.skipped <= Self.listed {
            Terminal.note("skipped: \(failure)")
        } else if summary.skipped == Self.listed + 1 {
            Terminal.note("skipped: more records are invalid; they are counted, not listed")
        }
    }
}

/// Makes drafts of the records of any entity.
struct DraftBuilders {
    private let opened: OpenStore
    private let uniques: UniqueAttributes
    /// The entity that all records are of; `nil` where each tells.
    private let entity: NSEntityDescription?
    private var builders: [String: DraftBuilder] = [:]

    var plans: [ImportPlan] {
        builders.values.map(\.plan).sorted { ($0.entity.name ?? "") < ($1.entity.name ?? "") }
    }

    init(
        _ opened: OpenStore, uniques: UniqueAttributes, entity: NSEntityDescription?, maps: [String]
    ) throws {
        self.opened = opened
        self.uniques = uniques
        self.entity = entity
        if let entity {
            let plan = try ImportPlan(entity: entity, uniques: uniques, maps: maps)
            builders[entity.name ?? ""] = DraftBuilder(plan: plan)
        }
    }

    mutating func draft(_ record: Record, of source: ImportSource) throws -> ObjectDraft {
        let entity = try entity(of: record, source)
        let name = entity.name ?? ""
        if builders[name] == nil {
            // Fields of a subentity's record are mapped as those of the entity that was asked for.
            let plan = try ImportPlan(entity: entity, uniques: uniques)
            builders[name] = DraftBuilder(plan: plan)
        }
        let draft = try builders[name]?.draft(record, emptyIsNil: source.emptyIsNil) ?? ObjectDraft(entity: entity)
        draft.forEach { $0.reference = $0.reference.map(opened.rooted) }
        return draft
    }

    private func entity(of record: Record, _ source: ImportSource) throws -> NSEntityDescription {
        let reference = try DraftBuilder.reference(of: record)
        let told = try reference.map { try opened.entity(named: $0.entity) }
        guard let name = source.entity ?? record.entity, entity == nil else {
            if let entity {
                // The ID tells of which subentity the object is.
                return told.flatMap { $0.isKindOf(entity: entity) ? $0 : nil } ?? entity
            }
            if let told { return told }
            throw ToolFailure("nothing tells of which entity the record is; give --entity, or records with an objectID")
        }
        let named = try opened.entity(named: name)
        return told.flatMap { $0.isKindOf(entity: named) ? $0 : nil } ?? named
    }
}

extension OpenStore {
    /// The same object by the root of its entity's tree, whose objects share their keys.
    fileprivate func rooted(_ reference: ObjectReference) -> ObjectReference {
        var reference = reference
        var entity = model.entitiesByName[reference.entity]
        while let parent = entity?.superentity { entity = parent }
        reference.entity = entity?.name ?? reference.entity
        return reference
    }
}
