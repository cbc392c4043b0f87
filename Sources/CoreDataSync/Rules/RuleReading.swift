import CoreData
import CoreDataSyncEngine
import Foundation

/// Reads the rules of a model's entities, and collects every mistake before it throws.
struct RuleReading {
    private let entities: [NSEntityDescription]
    private let names: Set<String>
    private var mistakes = RuleMistakes()

    init(_ model: NSManagedObjectModel, configuration: String?) {
        let all = model.entities
        entities = configuration.map { model.entities(forConfigurationName: $0) ?? [] } ?? all
        names = Set(entities.compactMap(\.name))
    }

    mutating func read() throws -> [String: SyncEntity] {
        var result: [String: SyncEntity] = [:]
        for entity in entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            let name = entity.name ?? ""
            checkWords(of: entity)
            result[name] = read(entity)
        }
        try mistakes.throwIfAny()
        return result
    }

    // MARK: Entities

    private mutating func read(_ entity: NSEntityDescription) -> SyncEntity {
        let lineage = Array(sequence(first: entity, next: \.superentity))
        let isIgnored = lineage.contains(where: isIgnored)
        let properties = isIgnored ? [] : properties(of: entity)
        let constraints = lineage.flatMap { Self.constraints(of: $0, in: entity) }
        let idAttribute = isIgnored ? nil : idAttribute(of: entity, lineage)
        let declared = isIgnored ? nil : key(of: entity, lineage)
        if let idAttribute, let declared {
            mistakes.add(
                entity, nil, "sync.id",
                "\"\(idAttribute)\" names a second identity beside sync.key \"\(declared.joined(separator: ", "))\"; "
                    + "keep one of both")
        }
        let implied = idAttribute == nil ? constraints.first { Self.canIdentify($0, entity) } : nil
        let keyOwner =
            declared != nil
            ? lineage.first(where: Self.declaresKey)
            : lineage.first { owner in Self.constraints(of: owner, in: entity).contains { $0 == implied } }
        return SyncEntity(
            name: entity.name ?? "", root: lineage.last?.name ?? "", isAbstract: entity.isAbstract,
            lineage: lineage.compactMap(\.name), isIgnored: isIgnored, keyAttributes: declared ?? implied ?? [],
            keyEntity: keyOwner?.name ?? "", hasDeclaredKey: declared != nil, idAttribute: idAttribute,
            deletionRule: isIgnored ? .deleteWins : deletionRule(of: entity, lineage),
            constraints: constraints, properties: properties)
    }

    /// The constraints that the entity itself has and that consist of its attributes.
    private static func constraints(of owner: NSEntityDescription, in entity: NSEntityDescription) -> [[String]] {
        let attributes = entity.attributesByName
        return owner.uniquenessConstraints.compactMap { constraint in
            let names = constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
            guard !names.isEmpty, names.count == constraint.count, names.allSatisfy({ attributes[$0] != nil }) else {
                return nil
            }
            return names
        }
    }

    private static func canIdentify(_ names: [String], _ entity: NSEntityDescription) -> Bool {
        names.allSatisfy { name in
            guard let attribute = entity.attributesByName[name] else { return false }
            return AttributeKind(attribute.attributeType)?.identifies == true && !attribute.isTransient
                && !(attribute is NSDerivedAttributeDescription) && !saysIgnore(attribute)
        }
    }

    private static func declaresKey(_ entity: NSEntityDescription) -> Bool { entity.userInfo?["sync.key"] != nil }

    private mutating func key(of entity: NSEntityDescription, _ lineage: [NSEntityDescription]) -> [String]? {
        guard let owner = lineage.first(where: Self.declaresKey),
            let text = owner.userInfo?["sync.key"]
        else { return nil }
        let names = "\(text)".split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        for name in names where owner === entity {
            if let reason = Self.reasonAgainstKey(name, of: entity) {
                mistakes.add(entity, nil, "sync.key", "\"\(text)\": \(reason)")
            }
        }
        if Set(names).count != names.count, owner === entity {
            mistakes.add(entity, nil, "sync.key", "\"\(text)\" names an attribute twice; name each once")
        }
        return names
    }

    private static func reasonAgainstKey(_ name: String, of entity: NSEntityDescription) -> String? {
        let example = "write names of attributes of the entity, separated by commas, for example \"name\""
        if name.isEmpty { return "a name is missing; \(example)" }
        guard let property = entity.propertiesByName[name] else {
            return name.contains(".")
                ? "the key path \"\(name)\" leads out of the object; \(example)"
                : "the entity has no attribute \"\(name)\"; \(example)"
        }
        guard let attribute = property as? NSAttributeDescription else {
            return "\"\(name)\" is a relationship or fetched property; \(example)"
        }
        if attribute.isTransient || attribute is NSDerivedAttributeDescription {
            return "\"\(name)\" is transient or derived, and no device sends it; \(example)"
        }
        if AttributeKind(attribute.attributeType)?.identifies != true {
            return "\"\(name)\" is composite or transformable, and its values identify nothing; \(example)"
        }
        if saysIgnore(attribute) {
            return "\"\(name)\" has sync.ignore, and no device sends it; remove sync.ignore there"
        }
        return nil
    }

    private mutating func idAttribute(of entity: NSEntityDescription, _ lineage: [NSEntityDescription]) -> String? {
        guard let owner = lineage.first(where: { $0.userInfo?["sync.id"] != nil }),
            let word = owner.userInfo?["sync.id"]
        else { return nil }
        let name = "\(word)".trimmingCharacters(in: .whitespaces)
        let attribute = entity.attributesByName[name]
        if owner === entity {
            if attribute == nil {
                mistakes.add(
                    entity, nil, "sync.id",
                    "the entity has no attribute \"\(name)\"; write the name of an attribute of type UUID")
            } else if attribute.flatMap({ AttributeKind($0.attributeType) })?.isIdentifier != true
                || attribute?.isTransient == true
            {
                mistakes.add(
                    entity, nil, "sync.id",
                    "\"\(name)\" is no stored attribute of type UUID; write the name of one, or use sync.key")
            } else if let attribute, Self.saysIgnore(attribute) {
                mistakes.add(
                    entity, nil, "sync.id",
                    "\"\(name)\" has sync.ignore, and no device sends it; remove sync.ignore there")
            }
        }
        return name
    }

    private mutating func deletionRule(
        of entity: NSEntityDescription, _ lineage: [NSEntityDescription]
    ) -> DeletionRule {
        guard let owner = lineage.first(where: { $0.userInfo?["sync.delete"] != nil }),
            let word = owner.userInfo?["sync.delete"]
        else { return .deleteWins }
        if let rule = DeletionRule(rawValue: "\(word)") { return rule }
        if owner === entity {
            mistakes.add(
                entity, nil, "sync.delete", "\"\(word)\" is no rule; write \"deleteWins\" or \"editWins\"")
        }
        return .deleteWins
    }

    // MARK: Words

    /// Words under keys that nothing reads, or at a place where they mean nothing.
    private mutating func checkWords(of entity: NSEntityDescription) {
        check(entity.userInfo, known: ["sync.key", "sync.id", "sync.delete", "sync.ignore"], entity, nil)
        _ = flag(entity.userInfo, entity, nil)
        let inherited = entity.superentity?.propertiesByName ?? [:]
        for property in entity.properties where inherited[property.name] == nil {
            let isAttribute = property is NSAttributeDescription
            check(
                property.userInfo, known: isAttribute ? ["sync.merge", "sync.ignore"] : ["sync.ignore"], entity,
                property.name)
            _ = flag(property.userInfo, entity, property.name)
            if let attribute = property as? NSAttributeDescription { checkMerging(attribute, property.name, entity) }
        }
    }

    private mutating func checkMerging(
        _ attribute: NSAttributeDescription, _ name: String, _ entity: NSEntityDescription
    ) {
        if let composite = attribute as? NSCompositeAttributeDescription {
            for element in composite.elements {
                let path = "\(name).\(element.name)"
                check(element.userInfo, known: ["sync.merge", "sync.ignore"], entity, path)
                _ = flag(element.userInfo, entity, path)
                checkMerging(element, path, entity)
            }
        }
        guard let word = attribute.userInfo?["sync.merge"] else { return }
        guard let rule = MergeRule(rawValue: "\(word)") else {
            mistakes.add(
                entity, name, "sync.merge",
                "\"\(word)\" is no rule; write \"last\", \"min\", \"max\", \"sum\", \"text\", \"union\" or \"app\"")
            return
        }
        let kind = AttributeKind(attribute.attributeType)
        switch rule {
        case .last, .app: return
        case .text, .union:
            guard kind != .string else { return }
            mistakes.add(
                entity, name, "sync.merge",
                "\"\(word)\" is for texts, and the attribute is none; write \"last\", or give it the type String")
        case .sum where kind?.isNumber != true:
            mistakes.add(
                entity, name, "sync.merge",
                "\"sum\" is for numbers, and the attribute has none; write \"last\", or give it a numeric type")
        case .min, .max:
            guard kind?.isOrdered != true else { return }
            mistakes.add(
                entity, name, "sync.merge",
                "\"\(word)\" is for numbers, dates, texts and booleans, and the attribute is none; write \"last\"")
        case .sum: return
        }
    }

    private mutating func check(
        _ userInfo: [AnyHashable: Any]?, known: Set<String>, _ entity: NSEntityDescription, _ property: String?
    ) {
        for case let key as String in (userInfo ?? [:]).keys where key.hasPrefix("sync.") && !known.contains(key) {
            mistakes.add(
                entity, property, key,
                "means nothing here; \(property == nil ? "an entity" : "this property") has "
                    + known.sorted().joined(separator: ", "))
        }
    }

    private mutating func flag(
        _ userInfo: [AnyHashable: Any]?, _ entity: NSEntityDescription, _ property: String?
    ) -> Bool {
        guard let word = userInfo?["sync.ignore"] else { return false }
        guard let value = Self.flags["\(word)".lowercased()] else {
            mistakes.add(entity, property, "sync.ignore", "\"\(word)\" is no answer; write \"YES\" or \"NO\"")
            return false
        }
        return value
    }

    private static let flags = ["yes": true, "true": true, "1": true, "no": false, "false": false, "0": false]

    private func isIgnored(_ entity: NSEntityDescription) -> Bool { Self.says(entity.userInfo) }

    static func saysIgnore(_ property: NSPropertyDescription) -> Bool { says(property.userInfo) }

    private static func says(_ userInfo: [AnyHashable: Any]?) -> Bool {
        userInfo?["sync.ignore"].map { flags["\($0)".lowercased()] == true } ?? false
    }

    /// Whether objects of the entity are exchanged.
    func isExchanged(_ entity: NSEntityDescription) -> Bool {
        names.contains(entity.name ?? "") && !sequence(first: entity, next: \.superentity).contains(where: isIgnored)
    }
}
