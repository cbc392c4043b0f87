import CoreDataPrimitives
import CoreDataSQL
import CoreDataSQLite
import CoreDataXML
import Foundation

@testable import CoreDataCLI
@testable import CoreDataModel
@testable import CoreDataModelTools
@testable import CoreDataPredicate
@testable import CoreDataStore

/// What reads files that strangers made. Whatever the bytes are, it must return.
enum Reader: String, CaseIterable {
    case xml
    case modelXML = "model-xml"
    case modelArchive = "model-archive"
    case modelElements = "model-elements"
    case modelJSON = "model-json"
    case propertyList = "property-list"
    case propertyListXML = "property-list-xml"
    case predicate
    case store
    case recordsXML = "records-xml"
    case recordsJSON = "records-json"
    case recordsNDJSON = "records-ndjson"
    case recordsCSV = "records-csv"
    case syncSegment = "sync-segment"
    case syncSnapshot = "sync-snapshot"
    case syncState = "sync-state"

    func read(_ data: Data) {
        switch self {
        case .xml: readXML(data)
        case .modelXML: use(ModelReader.document(fromContents: data, file: "contents"))
        case .modelArchive: if let document = try? ModelArchive.document(fromArchive: data) { use(document) }
        case .modelElements: use(ElementsReader.document(from: data, file: "elements"))
        case .modelJSON: if let bytes = try? FileBytes(data, name: "") { use(try? ModelJSONReader.read(bytes)) }
        case .propertyList, .propertyListXML: readPropertyList(data)
        case .predicate: readPredicate(String(decoding: data, as: UTF8.self))
        case .store: readStore(data)
        case .recordsXML: readRecords { try XMLRecordReader(data, name: "", entity: "Item", element: nil) }
        case .recordsJSON: readRecords { try JSONRecordReader(FileBytes(data, name: ""), entity: "Item") }
        case .recordsNDJSON: readRecords { NDJSONRecordReader(try FileBytes(data, name: "")) }
        case .syncSegment, .syncSnapshot, .syncState: SyncFiles.read(data, as: self)
        case .recordsCSV:
            readRecords {
                try CSVRecordReader(FileBytes(data, name: ""), delimiter: UInt8(ascii: ","), keepsEmpty: true)
            }
        }
    }

    private func readXML(_ data: Data) {
        do {
            let reader = try XMLReader(data)
            while try reader.next() != nil {}
        } catch { _ = error.message }
    }

    private func readPropertyList(_ data: Data) {
        guard let list = try? PropertyListValue(propertyList: data) else { return }
        _ = list.hashValue
        _ = StoreMetadata(propertyList: data).dictionary
        _ = try? KeyedArchiveReader(data).root.text
    }

    private func readRecords(_ make: () throws -> any RecordReader) {
        do {
            var reader = try make()
            while true {
                do {
                    guard try reader.next() != nil else { return }
                } catch let failure as RecordFailure where failure.isRecoverable { _ = failure.description }
            }
        } catch { _ = "\(error)" }
    }

    // MARK: Models

    private func use(_ versions: ModelVersions?) {
        for version in versions?.versions ?? [] { use(version.document) }
    }

    /// What tools do with a model: look for mistakes, compile it, write it down and read it again.
    private func use(_ document: ModelDocument) {
        _ = ModelLinter.findings(in: document).rendered
        _ = ModelDiagram(document)
        if let text = try? ContentsWriter.text(of: document.decompiled()) {
            _ = ModelReader.document(fromContents: Data(text.utf8), file: nil)
        }
        guard (try? ModelCompiler.compile(document)) != nil else { return }
        if let archive = try? ModelArchive.archive(document) { _ = try? ModelArchive.document(fromArchive: archive) }
    }

    // MARK: Predicates

    private func readPredicate(_ text: String) {
        _ = DerivationText.hashed(text)
        if let expression = try? PredicateParser.parseExpression(format: text) { _ = expression.predicateFormat }
        guard let predicate = try? PredicateParser.parse(format: text) else { return }
        let format = predicate.predicateFormat
        let again = try? PredicateParser.parse(format: format)
        precondition(again == nil || again?.predicateFormat == format, "'\(format)' prints otherwise when it is read")
        _ = try? PredicateEvaluator(predicate).evaluate(.object(AnyThing()))
        guard let engine = Shelf.engine.value else { return }
        for entity in engine.model.entities {
            var plan = FetchPlan(entity: entity.ordinal)
            plan.predicate = predicate
            _ = try? engine.count(plan)
        }
    }

    // MARK: Stores

    private static let storePath = FileManager.default.temporaryDirectory
        .appendingPathComponent("fuzz-\(ProcessInfo.processInfo.processIdentifier).sqlite").path

    private func readStore(_ data: Data) {
        let path = Self.storePath
        for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        guard (try? data.write(to: URL(fileURLWithPath: path))) != nil else { return }
        let makeDatabase: DatabaseFactory = { try SQLiteDatabase(SQLiteOptions($0)) }
        let options = DatabaseOptions(path: path)
        _ = try? StoreReport.make(options: options, makeDatabase: makeDatabase)
        _ = try? StoreVerifier.verify(options: options, makeDatabase: makeDatabase)
        let cached = try? StoreEngine.cachedModelDocument(options: options, makeDatabase: makeDatabase)
        guard let cached, let model = try? ModelCompiler.compile(cached),
            let engine = try? StoreEngine.open(
                model: model, options: StoreOptions(path: path), makeDatabase: makeDatabase)
        else { return }
        defer { engine.database.close() }
        for entity in model.entities {
            _ = try? engine.rows(FetchPlan(entity: entity.ordinal)).count
            _ = try? engine.count(FetchPlan(entity: entity.ordinal))
        }
        _ = try? StoreEngine.inferredModel(options: options, makeDatabase: makeDatabase)
    }
}
