import CoreData
import Foundation

/// Imports the records of a file: creates objects, or finds existing ones and changes them, without duplicates.
///
///     let importer = try Importer(stack, unique: ["Item": "name", "Unit": "name"])
///     let summary = try await importer.importRecords(
///         from: .file(url), as: "Item", map: ["unit": "unit.name"])
///     print("\(summary.records) records, \(summary.entities["Item"]?.created ?? 0) new items")
///
/// A field sets the property with its name, ignoring case. Names with dots, and the map, refer to properties of related
/// objects, which are found by their unique attributes or created. A field with the name of a to-one relationship
/// contains the value of its destination's single unique attribute. Properties without a field are not changed.
///
/// One statement per entity and batch looks up objects, not one per record. Memory use is limited by the batch size.
public struct Importer: Sendable {
    /// The number of records per batch; a batch is saved completely or not at all.
    public var batchSize = 500
    /// Whether invalid records are skipped and listed in the summary; otherwise the first one stops the import.
    public var skipsInvalid = false
    /// Whether existing objects are not changed, and records only create missing ones.
    public var keepsExisting = false

    let coordinator: NSPersistentStoreCoordinator
    let uniques: UniqueAttributes
    private let stack: CoreDataStack?

    /// Makes an importer for a stack, whose view context contains all changes when an import returns.
    ///
    /// - Parameter unique: by entity name, the attribute that identifies its objects; by default, the uniqueness
    ///   constraints of the model. For an entity with neither, every record creates an object.
    /// - Throws: a ``ToolkitError`` for an unknown entity or attribute.
    public init(_ stack: CoreDataStack, unique: [String: String] = [:]) throws {
        try self.init(stack, unique: unique.mapValues { [$0] })
    }

    /// Makes an importer for a stack; several attributes together identify the objects of an entity.
    public init(_ stack: CoreDataStack, unique: [String: [String]]) throws {
        coordinator = stack.coordinator
        uniques = try UniqueAttributes(unique, in: stack.model)
        self.stack = stack
    }

    /// Makes an importer for the stores of a coordinator.
    public init(_ coordinator: NSPersistentStoreCoordinator, unique: [String: [String]] = [:]) throws {
        self.coordinator = coordinator
        uniques = try UniqueAttributes(unique, in: coordinator.managedObjectModel)
        stack = nil
    }

    // MARK: Records

    /// The source of records.
    public struct Source: Sendable {
        var records: RecordSource?
        var name: String

        /// A file. Without a format, the file name extension decides.
        public static func file(_ url: URL, format: RecordFormat? = nil) -> Source {
            let format = format ?? RecordFormat(fileName: url.lastPathComponent)
            var source = Source(records: nil, name: url.lastPathComponent)
            if let format { source.records = RecordSource(path: url.path, format: format) }
            if url.pathExtension.lowercased() == "tsv" { source.delimiter = "\t" }
            return source
        }

        /// Data in memory, such as an upload or a download.
        ///
        /// - Parameter name: the name in messages.
        public static func data(_ data: Data, format: RecordFormat, name: String = "data") -> Source {
            Source(records: RecordSource(path: name, format: format, contents: data), name: name)
        }

        /// The name of the repeated XML element, if the root has children of several names.
        public var element: String? {
            get { records?.element }
            set { records?.element = newValue }
        }

        /// The ASCII character between CSV fields; by default a comma.
        public var delimiter: Character {
            get { records.map { Character(Unicode.Scalar($0.delimiter)) } ?? "," }
            set { records?.delimiter = newValue.asciiValue ?? UInt8(ascii: ",") }
        }

        /// Whether an empty field of XML or CSV is an empty text; otherwise it is no value, or for a related object no
        /// object.
        public var keepsEmpty: Bool {
            get { records?.keepsEmpty ?? false }
            set { records?.keepsEmpty = newValue }
        }
    }

    /// Imports all records in batches, on a separate queue.
    ///
    /// - Parameters:
    ///   - source: a file or data, of XML, JSON, NDJSON or CSV.
    ///   - entity: the entity of the records; `nil` if each record names its own, as in the output of `coredata
    ///     export`.
    ///   - map: the property of a field, as a key path; an empty one ignores the field.
    ///   - progress: called after each batch.
    /// - Throws: a ``RecordFailure`` that names line, entity and attribute; a ``ToolkitError`` for an error in entity
    ///   or map; `CancellationError` after the task was cancelled. Batches that were saved before remain; import again
    ///   to continue.
    @discardableResult
    public func importRecords(
        isolation: isolated (any Actor)? = #isolation, from source: Source, as entity: String? = nil,
        map: [String: String] = [:], progress: ProgressHandler? = nil
    ) async throws -> ImportSummary {
        guard var records = source.records else {
            throw ToolkitError(
                "The name of '\(source.name)' does not tell its format; give one: .xml, .json, .ndjson or .csv.")
        }
        let model = coordinator.managedObjectModel
        let description = try entity.map { try model.entity(called: $0) }
        records.entity = description?.name
        let builders = TransferBox(try DraftBuilders(model, uniques: uniques, entity: description, maps: map))
        let origin = ImportSource(records: records)
        do {
            let summary = try await BackgroundWork.run { cancellation in
                var run = ImportRun(
                    [origin], builders: builders.value, into: makeContext(), uniques: uniques,
                    batchSize: max(1, batchSize), skipsInvalid: skipsInvalid,
                    keepsExisting: keepsExisting)
                run.progress = { fraction, count in
                    progress?(ToolkitProgress(fractionCompleted: fraction, count: count))
                }
                run.checkContinuing = { try cancellation.check() }
                try run.run()
                return run.summary
            }
            await stack?.mergeNow()
            return summary
        } catch {
            await stack?.mergeNow()
            throw error
        }
    }

    private func makeContext() -> NSManagedObjectContext {
        if let stack { return stack.newImportContext() }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }
}
