import CoreDataModel
import CoreDataSQL
import Foundation

/// Finds problems of a store: in the file, in its schema, and in references between its rows.
///
///     for finding in try StoreVerifier.verify(model: model, options: options, makeDatabase: factory) { print(finding) }
///     // error: Item.unit of row 7: points to row 12 of Unit, which does not exist
///
/// It reads every table a few times, and writes nothing.
package struct StoreVerifier {
    package struct Finding: Hashable, Sendable, CustomStringConvertible {
        package enum Severity: String, Hashable, Sendable, Comparable {
            /// Useful information; nothing is wrong.
            case note
            /// It works, but not correctly in every case.
            case warning
            /// Data is lost or will be.
            case error

            package static func < (a: Self, b: Self) -> Bool { a.rank < b.rank }

            private var rank: Int {
                switch self {
                case .note: 0
                case .warning: 1
                case .error: 2
                }
            }
        }

        package var severity: Severity
        package var entity: String?
        package var property: String?
        /// The `Z_PK` of the row with the problem.
        package var row: Int64?
        package var message: String
        package var hint: String?

        package var description: String {
            var subject = [entity, property].compactMap { $0 }.joined(separator: ".")
            if let row { subject += subject.isEmpty ? "row \(row)" : " of row \(row)" }
            let hint = hint.map { " (\($0))" } ?? ""
            return "\(severity.rawValue): \(subject.isEmpty ? "" : subject + ": ")\(message)\(hint)"
        }
    }

    let model: CompiledModel
    let schema: SchemaLayout
    let catalog: StoreCatalog
    let indexes: StoreIndexes
    let numbers: [EntityNumber]
    let connection: any SQLConnection
    let path: String?
    var findings: [Finding] = []

    /// The maximum number of findings of one kind in one place; further ones are only counted.
    static let rowLimit = 20

    /// Verifies a closed store. Without a model, the cached model is used.
    ///
    /// - Throws: ``StoreFailure`` if the file is not a store; problems inside a store are findings.
    package static func verify(
        model: CompiledModel? = nil, configuration: String? = nil, options: DatabaseOptions,
        makeDatabase: DatabaseFactory
    ) throws -> [Finding] {
        var options = options
        options.isReadOnly = true
        do {
            return try StoreEngine.withStore(options: options, makeDatabase: makeDatabase) { database in
                try verify(database, model: model, configuration: configuration, path: options.path)
            }
        } catch let failure as StoreFailure where failure.cause?.kind == .corrupt {
            // The file starts like a database, but cannot be opened: SQLite reads nothing of a truncated file, not even
            // the first page.
            return [unreadable(failure.cause?.message ?? failure.message)]
        }
    }

    private static let recoverHint =
        "restore a backup, or make a new store of what can be read with coredata store recover"

    private static func unreadable(_ reason: String) -> Finding {
        Finding(
            severity: .error, message: "the file is damaged and cannot be checked further: \(reason)", hint: recoverHint
        )
    }

    package static func verify(
        _ database: any SQLDatabase, model: CompiledModel?, configuration: String? = nil, path: String?
    ) throws -> [Finding] {
        var findings: [Finding] = []
        do {
            findings += try database.integrityProblems().map {
                Finding(severity: .error, message: $0, hint: recoverHint)
            }
            try database.read {
                try check($0, model: model, configuration: configuration, path: path, findings: &findings)
            }
        } catch let failure as SQLFailure where [.corrupt, .notADatabase].contains(failure.kind) {
            findings.append(unreadable(failure.message))
        }
        return findings
    }

    /// - Parameter findings: contains the findings so far, also after an error.
    private static func check(
        _ connection: any SQLConnection, model: CompiledModel?, configuration: String?, path: String?,
        findings: inout [Finding]
    ) throws {
        let catalog = try StoreCatalog.read(connection)
        guard catalog.missingBookkeeping.isEmpty else {
            throw StoreFailure.notAStore(path, missing: catalog.missingBookkeeping)
        }
        let model = try model ?? ModelCompiler.compile(ModelCache.document(in: connection, path: path))
        guard let entities = model.entities(inConfiguration: configuration)?.map(\.ordinal) else {
            throw StoreFailure(.unknownConfiguration, "The model has no configuration '\(configuration ?? "")'.")
        }
        findings += metadataFindings(try MetadataRow.found(connection), model: model, entities: entities)
        let numbers = try EntityNumber.all(in: connection)
        let schema: SchemaLayout
        do {
            schema = try SchemaLayout.existing(
                model: model, entities: entities, numbers: numbers, catalog: catalog, naming: connection.dialect.naming)
        } catch let failure as StoreFailure {
            findings += failure.missing.map { part in
                Finding(severity: .error, entity: part.entity, property: part.property, message: part.text)
            }
            return
        }
        var verifier = try StoreVerifier(
            model: model, schema: schema, catalog: catalog, indexes: StoreIndexes.read(connection),
            numbers: numbers, connection: connection, path: path)
        defer { findings += verifier.findings }
        verifier.checkSchema()
        verifier.checkNumbers()
        try verifier.checkRows()
        try verifier.checkKinds()
        try verifier.checkTexts()
        try verifier.checkRelationships()
        try verifier.checkJoinTables()
        try verifier.checkConstraints()
        try verifier.checkExternalData()
        try verifier.checkSearchIndexes()
        try verifier.checkRTrees()
    }

    static func metadataFindings(
        _ row: MetadataRow?, model: CompiledModel, entities: [Int]
    ) -> [Finding] {
        let hint = "restore a backup, or make a new store of its objects with coredata store recover"
        guard let row else {
            return [Finding(severity: .error, message: "the table Z_METADATA has no row", hint: hint)]
        }
        var findings: [Finding] = []
        if row.identifier.isEmpty {
            findings.append(Finding(severity: .error, message: "the store has no UUID", hint: hint))
        }
        guard row.metadata.isReadable else {
            findings.append(Finding(severity: .error, message: "the metadata are no property list", hint: hint))
            return findings
        }
        guard row.metadata.versionHashes != nil else {
            findings.append(
                Finding(
                    severity: .warning, message: "the metadata has no version hashes",
                    hint: "whether the model fits can only be told by the tables"))
            return findings
        }
        if row.metadata.identification.isFormer(of: model, entities: entities) {
            findings.append(
                Finding(
                    severity: .warning,
                    message:
                        "made by an earlier version of OpenCoreData, whose version hashes of composite attributes are not Apple's",
                    hint: "migrate it to the same model, so that Apple's Core Data can read it"))
        } else if let mismatch = row.metadata.mismatch(with: model, entities: entities) {
            findings.append(
                Finding(
                    severity: .error, message: "made with another version of the model: \(mismatch.description)",
                    hint: "verify with the model of the store, or migrate it"))
        }
        return findings
    }

    mutating func report(
        _ severity: Finding.Severity, _ entity: Int? = nil, _ property: String? = nil, row: Int64? = nil,
        _ message: String, hint: String? = nil
    ) {
        findings.append(
            Finding(
                severity: severity, entity: entity.map { model.entities[$0].name }, property: property, row: row,
                message: message, hint: hint))
    }

    /// Reports each row of a query whose first column is the row's key, up to a limit; `message` describes the problem.
    /// `namesRow` is false if the key is not one of the entity's rows.
    mutating func reportRows(
        _ query: SelectStatement, _ severity: Finding.Severity, _ entity: Int?, _ property: String?,
        hint: String? = nil,
        namesRow: Bool = true, message: ([SQLValue]) -> String
    ) throws {
        let rows = try connection.rows(query)
        for row in rows.prefix(Self.rowLimit) {
            guard case .integer(let key)? = row.first else { continue }
            report(severity, entity, property, row: namesRow ? key : nil, message(row), hint: hint)
        }
        if rows.count > Self.rowLimit {
            report(severity, entity, property, "the same in \(rows.count - Self.rowLimit) more rows", hint: hint)
        }
    }

    /// Returns the table of an entity in the file.
    func table(_ entity: Int) -> String? { schema.layout.entities[entity]?.table }
}

extension SQLValue {
    /// The value in messages; usually an integer.
    var shown: String {
        switch self {
        case .null: "nil"
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let value): value
        case .blob(let value): "\(value.count) bytes"
        }
    }
}
