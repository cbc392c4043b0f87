import CoreDataModel
import CoreDataPrimitives
import CoreDataXML
import Foundation

/// Reads the objects of an XML store into a graph.
///
/// Objects may refer to later ones: ``GraphBuilder`` combines both sides of a relationship.
struct XMLRowReader {
    private let names: XMLNames
    private let path: String
    private let model: CompiledModel
    private var builder: GraphBuilder
    /// The problems found so far, if reading continues after them; otherwise `nil`.
    private var problems: [String]?

    /// The object that is being read.
    private struct Object {
        var entity: CompiledEntity
        var slots: [String: Int]
        var key: Int64
        var line: Int
    }

    init(model: CompiledModel, entities: [Int], path: String) throws {
        self.model = model
        self.path = path
        builder = GraphBuilder(model: model)
        names = try XMLNames(model, entities)
    }

    /// Returns the highest id.
    mutating func read(_ data: Data, into graph: inout MemoryGraph) throws -> Int64 {
        do { try parse(data) } catch let failure as XMLFailure { throw XMLStoreFormat.failure(failure, path) }
        builder.fill(&graph)
        return graph.highestKey
    }

    /// Reads the readable content; returns descriptions of the unreadable parts.
    mutating func salvage(_ data: Data, into graph: inout MemoryGraph) -> [String] {
        problems = []
        do { try parse(data) } catch let failure as XMLFailure {
            problems?.append("line \(failure.line): \(failure.message); what follows is lost")
        } catch { problems?.append("\(error)") }
        builder.fill(&graph)
        return problems ?? []
    }

    /// Runs the reading of a part of an object. In salvage mode, an error is recorded instead of thrown.
    @discardableResult
    private mutating func tolerating<R>(_ body: (inout XMLRowReader) throws -> R) throws -> R? {
        do { return try body(&self) } catch let failure as StoreFailure {
            try note(failure)
            return nil
        }
    }

    private mutating func note(_ failure: StoreFailure) throws {
        guard problems != nil else { throw failure }
        problems?.append(failure.message)
    }

    // MARK: Elements

    private mutating func parse(_ data: Data) throws {
        let reader = try XMLReader(data, isUTF8: true)
        var depth = 0
        var object: Object?
        var property: (tag: XMLTag, text: String)?
        while let event = try reader.next() {
            switch event {
            case .start(let tag):
                depth += 1
                switch (depth, tag.name) {
                case (2, "object"): object = try tolerating { try $0.begin(tag) }
                case (3, "attribute"), (3, "relationship"): if object != nil { property = (tag, "") }
                case (3, _) where object != nil:
                    try note(failure(tag.line, "<\(tag.name)> is not known in an object"))
                case (4, _) where property != nil:
                    try note(failure(tag.line, "<\(tag.name)> is not known in a property"))
                default: break
                }
            case .text(let text): property?.text += text
            case .end:
                if depth == 3, let found = property, let object {
                    try tolerating { try $0.take(found.tag, found.text, of: object) }
                    property = nil
                } else if depth == 2, let finished = object {
                    builder.finish(finished.entity, key: finished.key)
                    object = nil
                }
                depth -= 1
            case .comment: break
            }
        }
    }

    private mutating func begin(_ tag: XMLTag) throws -> Object {
        guard let type = tag["type"], let id = tag["id"] else {
            throw failure(tag.line, "<object> needs a type and an id")
        }
        guard let ordinal = names.entity[type], let slots = names.slot[ordinal] else {
            throw failure(tag.line, "the model has no entity '\(type)' in this store's configuration")
        }
        guard let key = Self.key(id[...]) else { throw failure(tag.line, "'\(id)' is no id of an object") }
        let entity = model.entities[ordinal]
        guard !builder.contains(key, root: entity.root) else {
            throw failure(tag.line, "there is another object '\(id)'")
        }
        return Object(entity: entity, slots: slots, key: key, line: tag.line)
    }

    /// Parses `z102`, or `z7.TAG`; the hierarchy after the dot is known from the context.
    private static func key(_ id: Substring) -> Int64? {
        guard id.first == "z" else { return nil }
        let digits = id.dropFirst().prefix { $0 != "." }
        guard let key = Int64(digits), key > 0 else { return nil }
        return key
    }

    private mutating func take(_ tag: XMLTag, _ text: String, of object: Object) throws {
        guard let name = tag["name"], let slot = object.slots[name] else {
            throw failure(
                tag.line, "entity '\(object.entity.name)' has no property '\(tag["name"] ?? "")'")
        }
        let property = object.entity.properties[slot]
        let what = "\(object.entity.name).\(property.name)"
        switch (property.kind, tag.name) {
        case (.attribute(let attribute), "attribute"):
            try set(text, attribute.type, tag, object.entity.rowLayout.columnOfSlot[slot], object, what)
        case (.relationship(let relationship), "relationship"):
            var keys: [Int64] = []
            for id in (tag["idrefs"] ?? "").split(whereSeparator: \.isWhitespace) {
                guard let key = Self.key(id) else { throw failure(tag.line, "\(what) has '\(id)', which is no id") }
                keys.append(key)
            }
            if relationship.isToMany {
                builder.setToMany(slot, of: object.entity, key: object.key, to: keys)
            } else if let key = keys.first {
                guard keys.count == 1 else { throw failure(tag.line, "\(what) leads to one object, not \(keys.count)") }
                builder.setToOne(slot, of: object.entity, key: object.key, to: key)
            }
        default: throw failure(tag.line, "\(what) is written as <\(tag.name)>")
        }
    }

    private mutating func set(
        _ text: String, _ type: AttributeType, _ tag: XMLTag, _ column: Int, _ object: Object, _ what: String
    ) throws {
        guard column >= 0 else { return }
        let builder = builder.builder(of: object.entity)
        var text = text
        if tag["encoding"] == "base64" {
            guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
                throw failure(tag.line, "\(what) is not in base64")
            }
            text = String(decoding: data, as: UTF8.self)
        }
        let word = type.kind == .text || type.kind == .link ? "" : text.trimmingCharacters(in: .whitespacesAndNewlines)
        switch type.kind {
        case .boolean, .integer, .reference:
            guard let value = Int64(word) ?? ["true": 1, "false": 0, "yes": 1, "no": 0][word.lowercased()] else {
                break
            }
            return builder.setInteger(value, at: column)
        case .real, .single, .date:
            guard let value = Double(word) else { break }
            return builder.setReal(value, at: column)
        case .decimal:
            guard let value = Decimal(string: word, locale: nil) else { break }
            return builder.setText(value.description, at: column)
        case .text, .link: return builder.setText(text, at: column)
        case .identifier:
            guard let value = UUID(uuidString: word) else { break }
            return value.withBytes { builder.setBytes($0, at: column) }
        case .bytes, .object, .composite:
            guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else { break }
            return data.withUnsafeBytes { builder.setBytes($0, at: column) }
        }
        throw failure(tag.line, "\(what) is '\(word.prefix(40))', which is no \(type.traits.storeName)")
    }

    private func failure(_ line: Int, _ reason: String) -> StoreFailure {
        XMLStoreFormat.damaged(path, "line \(line): \(reason)")
    }
}

extension XMLTag {
    subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }
}
