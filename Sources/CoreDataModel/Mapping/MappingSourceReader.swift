import CoreDataPrimitives
import CoreDataXML
import Foundation

/// Compiles the source of a mapping model: an XML store with objects for the model, its entity mappings and its
/// property mappings.
///
/// The two models in the source determine what it leaves to the compiler: a property that both models have under one
/// name takes its value from there. A source without copies of the models, for example one written by hand, uses the
/// models at its paths, searched for in the folders above it.
struct MappingSourceReader {
    private struct Item {
        var type: String
        var values: [String: String] = [:]
        var links: [String: [String]] = [:]
    }

    private var items: [String: Item] = [:]
    private var source: CompiledModel?
    private var destination: CompiledModel?
    private var entities: [Item] = []

    static func document(from data: Data, besides file: URL) throws(ModelFailure) -> MappingModelDocument {
        var reader = MappingSourceReader()
        try reader.read(data, file)
        let document = reader.document()
        try reader.check(document, file)
        return document
    }

    /// Rejects a document that cannot be compiled: entities with unknown versions would match every model.
    private func check(_ document: MappingModelDocument, _ file: URL) throws(ModelFailure) {
        var diagnostics: [Diagnostic] = []
        func missing(_ entity: String, _ what: String, _ model: CompiledModel?) {
            let reason = model == nil ? "there is no \(what) model" : "the \(what) model has no such entity"
            diagnostics.append(
                Diagnostic(
                    .error, "the \(what) entity '\(entity)' of the mapping model '\(file.relativePath)': \(reason)",
                    hint: model == nil
                        ? "the file has no copy of it, and its path leads to no model above or beside the file" : nil))
        }
        for entity in document.entities {
            if let name = entity.sourceName, entity.sourceHash == nil { missing(name, "source", source) }
            if let name = entity.destinationName, entity.destinationHash == nil {
                missing(name, "destination", destination)
            }
        }
        if !diagnostics.isEmpty { throw ModelFailure(diagnostics: diagnostics) }
    }

    // MARK: XML store

    private mutating func read(_ data: Data, _ file: URL) throws(ModelFailure) {
        var found: [String: Item] = [:]
        do {
            let reader = try XMLReader(data)
            var current: (id: String, item: Item)?
            var attribute: (name: String, text: String)?
            while let event = try reader.next() {
                switch event {
                case .start(let tag):
                    let values = Dictionary(
                        tag.attributes.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
                    switch tag.name {
                    case "object": current = (values["id"] ?? "", Item(type: values["type"] ?? ""))
                    case "attribute": attribute = (values["name"] ?? "", "")
                    case "relationship":
                        current?.item.links[values["name"] ?? ""] =
                            (values["idrefs"] ?? "").split(separator: " ").map(String.init)
                    default: break
                    }
                case .text(let text): attribute?.text += text
                case .end(name: "attribute"):
                    if let attribute { current?.item.values[attribute.name] = attribute.text }
                    attribute = nil
                case .end(name: "object"):
                    if let current { found[current.id] = current.item }
                    current = nil
                case .end, .comment: break
                }
            }
        } catch {
            throw ModelFailure(diagnostics: [Diagnostic(.error, "the mapping model cannot be read: \(error)")])
        }
        items = found
        guard let model = found.values.first(where: { $0.type == "XDDEVMAPPINGMODEL" }) else {
            throw ModelFailure(diagnostics: [Diagnostic(.error, "the file holds no mapping model")])
        }
        source = Self.model(model.values["sourcemodeldata"]) ?? Self.model(at: model.values["sourcemodelpath"], file)
        destination =
            Self.model(model.values["destinationmodeldata"])
            ?? Self.model(at: model.values["destinationmodelpath"], file)
        entities = found.values.filter { $0.type == "XDDEVENTITYMAPPING" }.sorted { a, b in
            func key(_ item: Item) -> (Int, String) {
                (Int(item.values["mappingnumber"] ?? "") ?? 0, item.values["destinationname"] ?? "")
            }
            return key(a) < key(b)
        }
    }

    private static func data(_ text: String?) -> Data? {
        text.flatMap { Data(base64Encoded: $0, options: .ignoreUnknownCharacters) }
    }

    private static func model(_ text: String?) -> CompiledModel? {
        guard let data = data(text) else { return nil }
        return try? ModelCompiler.compile(ElementsReader.document(from: data, file: nil))
    }

    /// Returns the model at a path such as `Shop/Shop.xcdatamodeld/Shop 2.xcdatamodel`, which starts in an unknown
    /// folder above the file. It uses the longest match from the nearest folder.
    private static func model(at path: String?, _ file: URL) -> CompiledModel? {
        guard let parts = path?.split(separator: "/").map(String.init), !parts.isEmpty, !parts.contains("..") else {
            return nil
        }
        var folder = file.standardizedFileURL.deletingLastPathComponent()
        for _ in 0..<16 {
            for start in parts.indices {
                let url = parts[start...].reduce(folder) { $0.appendingPathComponent($1) }
                guard url.pathExtension == "xcdatamodel", FileManager.default.fileExists(atPath: url.path),
                    let document = try? ModelReader.read(contentsOf: url).current
                else { continue }
                return try? ModelCompiler.compile(document)
            }
            if folder.path == "/" { return nil }
            folder.deleteLastPathComponent()
        }
        return nil
    }

    // MARK: Mappings

    private func document() -> MappingModelDocument {
        var document = MappingModelDocument()
        document.entities = entities.map(entity)
        return document
    }

    private static func name(_ item: Item) -> String {
        if let name = item.values["name"], !name.isEmpty { return name }
        switch (item.values["sourcename"], item.values["destinationname"]) {
        case (let source?, let destination?): return "\(source)To\(destination)"
        case (let source?, nil): return source
        case (nil, let destination): return destination ?? ""
        }
    }

    private func entity(_ item: Item) -> MappingModelDocument.Entity {
        var entity = MappingModelDocument.Entity(name: Self.name(item))
        entity.sourceName = item.values["sourcename"]
        entity.destinationName = item.values["destinationname"]
        let old = entity.sourceName.flatMap { source?.entity(named: $0) }
        let new = entity.destinationName.flatMap { destination?.entity(named: $0) }
        entity.sourceHash = old?.versionHash
        entity.destinationHash = new?.versionHash
        entity.policyClassName = item.values["migrationpolicyclassname"].flatMap { $0.isEmpty ? nil : $0 }
        if let name = entity.sourceName {
            entity.sourceExpression = expression(item.values["sourceexpressiondata"]) ?? Self.fetch(name, item)
        }
        entity.attributes = properties(item, "attributemappings") { property in
            let name = property.values["name"] ?? ""
            return old?.property(named: name)?.attribute == nil ? nil : Self.source(name)
        }
        entity.relationships = properties(item, "relationshipmappings") { relationship($0, of: old) }
        entity.type = Self.type(entity)
        return entity
    }

    private static func type(_ entity: MappingModelDocument.Entity) -> Int {
        if entity.policyClassName != nil { return 1 }
        if entity.sourceName == nil { return 2 }
        if entity.destinationName == nil { return 3 }
        // A copy may have other relationships than its source; Xcode writes such mapping models.
        let isCopied = entity.attributes.allSatisfy { $0.valueExpression == source($0.name) }
        return isCopied && entity.sourceName == entity.destinationName ? 4 : 5
    }

    private static func fetch(_ name: String, _ item: Item) -> String {
        let filter = item.values["sourcefilterpredicatestring"].flatMap { $0.isEmpty ? nil : $0 } ?? "TRUEPREDICATE"
        return
            "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \(quoted(name)), \(quoted(filter))), $manager.sourceContext, NO)"
    }

    /// Returns `$source.name`; keys that are keywords of the language are escaped.
    private static func source(_ path: String) -> String {
        let keys = path.split(separator: ".").map { key in
            PredicateText.reservedWords.contains(key.uppercased()) ? "#" + key : String(key)
        }
        return (["$source"] + keys).joined(separator: ".")
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// Returns the property mappings of the entity mapping, by name.
    private func properties(
        _ item: Item, _ link: String, _ usual: (Item) -> String?
    ) -> [MappingModelDocument.Property] {
        (item.links[link] ?? []).compactMap { items[$0] }.map { property in
            MappingModelDocument.Property(
                name: property.values["name"] ?? "",
                valueExpression: expression(property.values["valueexpressiondata"]) ?? usual(property))
        }.sorted { NameOrder.byCodeUnits($0.name, $1.name) }
    }

    private func expression(_ text: String?) -> String? {
        guard let data = Self.data(text), let archive = try? KeyedArchiveReader(data) else { return nil }
        return PredicateArchive.expression(archive.root)
    }

    /// Returns the expression for the migrated objects of the relationship with the same name.
    private func relationship(_ item: Item, of old: CompiledEntity?) -> String? {
        let name = item.values["name"] ?? ""
        let path = item.values["sourcekeypath"].flatMap { $0.isEmpty ? nil : $0 } ?? name
        guard let relationship = old?.property(named: path)?.relationship, let source else { return nil }
        if let mapping = item.values["sourcemappingname"], !mapping.isEmpty {
            return Self.instances("destinationInstancesForEntityMappingNamed:sourceInstances:", mapping, path)
        }
        let targets = source.entities[relationship.destination].subtree.map { source.entities[$0].name }
        let mappings = entities.filter { targets.contains($0.values["sourcename"] ?? "") }
        if mappings.count == 1 {
            return Self.instances(
                "destinationInstancesForEntityMappingNamed:sourceInstances:", Self.name(mappings[0]), path)
        }
        return Self.instances("destinationInstancesForSourceRelationshipNamed:sourceInstances:", path, path)
    }

    private static func instances(_ selector: String, _ name: String, _ path: String) -> String {
        "FUNCTION($manager, \"\(selector)\", \(quoted(name)), \(source(path)))"
    }
}
