import CoreDataPrimitives
import Foundation

/// Makes a ``ModelDocument`` from an archived `NSManagedObjectModel`.
///
/// Entities and properties are sorted by name, as the archive's own order has no meaning.
struct ModelArchiveDecoder {
    private var document = ModelDocument()
    private var compositeDepth = 0

    mutating func document(_ root: ArchivedObject) -> ModelDocument {
        document.versionIdentifiers = root["NSVersionIdentifiers"].texts.sorted()
        let entities = sorted(root["NSEntities"].object?.objectsByName ?? [:])
        document.entities = entities.map { entity($0.value, name: $0.key) }
        document.fetchRequests = sorted(root["NSFetchRequestTemplates"].object?.objectsByName ?? [:])
            .map { request($0.value, name: $0.key) }
        document.configurations = sorted(root["NSConfigurations"].object?.objectsByName ?? [:]).map { name, members in
            var configuration = ConfigurationElement(name: name)
            configuration.entityNames = (members.elements ?? []).compactMap { $0.object?["NSEntityName"].text }.sorted()
            return configuration
        }
        return document
    }

    private func sorted(_ objects: [String: ArchivedObject]) -> [(key: String, value: ArchivedObject)] {
        objects.sorted { NameOrder.byCodeUnits($0.key, $1.key) }
    }

    // MARK: Entities

    private mutating func entity(_ object: ArchivedObject, name: String) -> EntityElement {
        var entity = EntityElement(name: object["NSEntityName"].text ?? name)
        entity.className = object["NSClassNameForEntity"].text
        entity.parentName = object["NSSuperentity"].object?["NSEntityName"].text
        entity.isAbstract = object["NSIsAbstract"].bool
        entity.userInfo = userInfo(object["NSUserInfo"])
        entity.versionHashModifier = object["NSVersionHashModifier"].text
        entity.renamingIdentifier = renamingIdentifier(object, name: entity.name)
        entity.coreSpotlightDisplayNameExpression = PredicateArchive.expression(object["NSCoreSpotlightDisplayName"])
        entity.uniquenessConstraints = nameLists(object["NSUniqueTuples"])
        entity.fetchIndexes =
            object["NSFetchIndexDescriptions"].object?.elements?.compactMap(\.object).map(fetchIndex) ?? []
        // For old frameworks, the compiler repeats indexes of several properties as compound indexes.
        let repeated = entity.fetchIndexes.map { $0.elements.map(\.listedName) }
        entity.compoundIndexes = nameLists(object["NSCompoundIndexes"]).filter { !repeated.contains($0) }
        let inherited = inheritedNames(object)
        for (name, property) in sorted(object["NSProperties"].object?.objectsByName ?? [:]) {
            // In a cached model, an entity may list inherited properties, as proxies or as copies.
            if inherited.contains(name) || property.className == "_NSPropertyDescriptionProxy" { continue }
            if let property = self.property(property, name: name, entity: entity.name) {
                entity.properties.append(property)
            }
        }
        return entity
    }

    private func inheritedNames(_ entity: ArchivedObject) -> Set<String> {
        var names: Set<String> = []
        var visited: Set<ArchivedObject> = [entity]
        var current = entity["NSSuperentity"].object
        while let parent = current, visited.insert(parent).inserted {
            names.formUnion(parent["NSProperties"].object?.objectsByName.keys.map { $0 } ?? [])
            current = parent["NSSuperentity"].object
        }
        return names
    }

    private func nameLists(_ value: ArchivedValue) -> [[String]] {
        value.object?.elements?.map { list in
            // Models made in code may contain the properties themselves.
            (list.object?.elements ?? []).compactMap { $0.text ?? $0.object?["NSPropertyName"].text }
        } ?? []
    }

    private func renamingIdentifier(_ object: ArchivedObject, name: String) -> String? {
        object["NSRenamingIdentifier"].text.flatMap { $0 == name ? nil : $0 }
    }

    /// Returns the user info as text; other values are replaced by a short description of their kind.
    private func userInfo(_ value: ArchivedValue) -> [String: String] {
        var result: [String: String] = [:]
        for (key, value) in value.object?.entries ?? [] {
            guard let key = key.text else { continue }
            if let text = value.text {
                result[key] = text
            } else if let integer = value.integer {
                result[key] = String(integer)
            } else if let real = value.real {
                result[key] = String(real)
            }
        }
        return result
    }

    private func fetchIndex(_ object: ArchivedObject) -> FetchIndexElement {
        var index = FetchIndexElement(name: object["NSIndexName"].text ?? "")
        index.predicate = PredicateArchive.predicate(object["NSPartialIndexPredicate"])
        index.elements = (object["NSIndexElements"].object?.elements ?? []).compactMap(\.object).map(indexElement)
        return index
    }

    private func indexElement(_ object: ArchivedObject) -> FetchIndexElement.Element {
        var element = FetchIndexElement.Element(propertyName: object["NSPropertyName"].text)
        if let computed = object[ModelArchiveKeys.indexedProperty].object,
            computed.isKind(of: "NSExpressionDescription")
        {
            // The name is `expression1` and so on. It also represents an expression that the language cannot spell.
            element.expression = PredicateArchive.expression(computed["NSExpression"]) ?? element.propertyName
            element.propertyName = nil
            let type = computed["NSExpressionType"].integer
            if type != Int(element.impliedType.rawValue) { element.expressionType = type.map { String($0) } }
        } else if element.propertyName == nil {
            element.expression = PredicateArchive.expression(object[ModelArchiveKeys.indexExpression])
        }
        element.isRTree = object["NSFetchIndexElementType"].integer == 1
        element.isAscending = object["NSAscending"].bool
        return element
    }

    // MARK: Properties

    private mutating func property(_ object: ArchivedObject, name: String, entity: String) -> PropertyElement? {
        let name = object["NSPropertyName"].text ?? name
        let kind: PropertyElement.Kind
        if object.isKind(of: "NSAttributeDescription") {
            kind = .attribute(attribute(object, path: "\(entity).\(name)"))
        } else if object.isKind(of: "NSRelationshipDescription") {
            kind = .relationship(relationship(object, path: "\(entity).\(name)"))
        } else if object.isKind(of: "NSFetchedPropertyDescription") {
            var request =
                object["NSFetchRequest"].object.map { self.request($0, name: "") } ?? FetchRequestElement(name: "")
            request.entityName = request.entityName ?? object["_NSFetchRequestEntityName"].text
            kind = .fetched(request)
        } else {
            document.diagnostics.append(
                Diagnostic(.error, "property '\(entity).\(name)' is of the unknown kind '\(object.className)'"))
            return nil
        }
        var property = PropertyElement(name: name, kind: kind)
        property.isOptional = object["NSIsOptional"].bool
        // Fetched properties are always transient.
        property.isTransient = object["NSIsTransient"].bool && !property.isFetched
        property.isIndexed = object["NSIsIndexed"].bool
        property.isIndexedBySpotlight = object["NSIndexedBySpotlight"].bool
        property.isStoredInTruthFile = object["NSIsStoredInTruth"].bool
        property.userInfo = userInfo(object["NSUserInfo"])
        property.versionHashModifier = object["NSVersionHashModifier"].text
        property.renamingIdentifier = renamingIdentifier(object, name: name)
        return property
    }

    private mutating func attribute(_ object: ArchivedObject, path: String) -> AttributeElement {
        let code = object["NSAttributeType"].integer ?? 0
        let type = Int32(exactly: code).flatMap(AttributeType.init)
        if type == nil {
            document.diagnostics.append(Diagnostic(.error, "attribute '\(path)' is of the unknown type \(code)"))
        }
        var attribute = AttributeElement(type: type ?? .string)
        if let value = ArchivedDefault.value(object["NSDefaultValue"]) {
            attribute.defaultValue = DefaultValue.convert(value, to: attribute.type) ?? value
        } else if !Self.isDictionary(object["NSDefaultValue"], of: attribute) {
            let name = object["NSDefaultValue"].object?.className ?? "something"
            document.diagnostics.append(
                Diagnostic(.warning, "the default of attribute '\(path)' is of class '\(name)' and is left out"))
        }
        attribute.valueTransformerName = object["NSValueTransformerName"].text
        if attribute.type.kind == .object {
            attribute.customClassName = object["NSAttributeValueClassName"].text
        }
        let flags = object["NSFlagsKey"].integer ?? 0
        attribute.allowsExternalBinaryDataStorage = flags & 4 != 0
        attribute.preservesValueInHistoryOnDeletion = flags & 16 != 0
        attribute.allowsCloudEncryption = object[ModelArchiveKeys.allowsCloudEncryption].bool
        attribute.validations = validations(object, path: path)
        if object.isKind(of: "NSDerivedAttributeDescription") {
            attribute.derivationExpression =
                PredicateArchive.expression(object["NSDerivationExpression"]).map(DerivationText.written) ?? ""
            attribute.derivationFilter = PredicateArchive.predicate(object["NSFilteringPredicate"])
        }
        if attribute.type == .composite || object.isKind(of: "NSCompositeAttributeDescription") {
            attribute.type = .composite
            attribute.elements = elements(object, path: path)
            Self.takeDefaults(from: object["NSDefaultValue"], into: &attribute.elements)
            if let name = object[ModelArchiveKeys.compositeName].text { nameComposite(of: &attribute, name) }
        }
        return attribute
    }

    /// Restores the composite type that the elements belong to, as in the model's source.
    private mutating func nameComposite(of attribute: inout AttributeElement, _ name: String) {
        var composite = CompositeElement(name: name)
        composite.properties = attribute.elements
        let known = document.composites.first { $0.name == name }
        guard !attribute.elements.isEmpty, known == nil || known == composite else { return }
        if known == nil { document.composites.append(composite) }
        attribute.compositeName = name
        attribute.elements = []
    }

    private mutating func elements(_ object: ArchivedObject, path: String) -> [PropertyElement] {
        // The nesting of composites is limited; an archive in which one contains itself would not end.
        let found = ModelArchiveKeys.compositeElements.lazy.compactMap { object[$0].object?.elements }.first
        guard let elements = found, compositeDepth < 8 else { return [] }
        compositeDepth += 1
        defer { compositeDepth -= 1 }
        return elements.compactMap(\.object).compactMap { element in
            property(element, name: element["NSPropertyName"].text ?? "", entity: path)
        }
    }

    private static func isDictionary(_ value: ArchivedValue, of attribute: AttributeElement) -> Bool {
        attribute.type == .composite && value.object?.isKind(of: "NSDictionary") == true
    }

    /// Distributes the default of a composite attribute, a dictionary that SwiftData leaves empty: each value becomes
    /// the default of an element that has none of its own.
    private static func takeDefaults(from value: ArchivedValue, into elements: inout [PropertyElement]) {
        for (key, value) in value.object?.entries ?? [] {
            guard let place = elements.firstIndex(where: { $0.name == key.text }),
                let value = ArchivedDefault.value(value),
                case .attribute(var attribute) = elements[place].kind, attribute.defaultValue.isNull,
                let converted = DefaultValue.convert(value, to: attribute.type)
            else { continue }
            attribute.defaultValue = converted
            elements[place].kind = .attribute(attribute)
        }
    }

    private mutating func relationship(_ object: ArchivedObject, path: String) -> RelationshipElement {
        var relationship = RelationshipElement()
        relationship.destinationName =
            object["NSDestinationEntity"].object?["NSEntityName"].text ?? object["_NSDestinationEntityName"].text
        relationship.inverseName =
            object["NSInverseRelationship"].object?["NSPropertyName"].text ?? object["_NSInverseRelationshipName"].text
        if relationship.inverseName != nil { relationship.inverseEntityName = relationship.destinationName }
        relationship.minCount = object["NSMinCount"].integer ?? 0
        relationship.maxCount = object["NSMaxCount"].integer ?? 0
        relationship.isOrdered = object["NSIsOrdered"].bool
        let rule = object["NSDeleteRule"].integer ?? 1
        if let known = DeleteRule(rawValue: rule) {
            relationship.deleteRule = known
        } else {
            document.diagnostics.append(
                Diagnostic(.error, "relationship '\(path)' has the unknown delete rule \(rule)"))
        }
        relationship.validations = validations(object, path: path)
        return relationship
    }

    private mutating func validations(_ object: ArchivedObject, path: String) -> [ValidationElement] {
        let predicates = object["NSValidationPredicates"].object?.elements ?? []
        let warnings = object["NSValidationWarnings"].object?.elements ?? []
        var result: [ValidationElement] = []
        for (position, predicate) in predicates.enumerated() {
            guard let text = PredicateArchive.predicate(predicate) else {
                document.diagnostics.append(
                    Diagnostic(.warning, "a validation predicate of '\(path)' has no text form and is left out"))
                continue
            }
            let warning = position < warnings.count ? warnings[position] : .none
            let code = warning.text ?? warning.integer.map(String.init) ?? ValidationCode.predicate.rawValue
            result.append(ValidationElement(predicate: text, warning: code))
        }
        return result
    }

    // MARK: Requests

    private mutating func request(_ object: ArchivedObject, name: String) -> FetchRequestElement {
        var request = FetchRequestElement(name: name)
        request.entityName = object["NSEntity"].object?["NSEntityName"].text
        request.predicate = PredicateArchive.predicate(object["NSPredicate"])
        if request.predicate == nil, !object["NSPredicate"].isNone {
            // Without its predicate, the request would fetch too many rows.
            request.predicate = "FALSEPREDICATE"
            document.diagnostics.append(
                Diagnostic(
                    .warning, "the predicate of fetch request '\(name)' has no text form; the request fetches nothing"))
        }
        request.sorts = (object["NSSortDescriptors"].object?.elements ?? []).compactMap { sort in
            guard let sort = sort.object, let key = sort["NSKey"].text else { return nil }
            let selector = sort["NSSelector"].text
            return .init(
                key: key, isAscending: sort["NSAscending"].bool, selector: selector == "compare:" ? nil : selector)
        }
        request.fetchLimit = object["NSFetchLimit"].integer ?? 0
        request.fetchOffset = object["NSFetchOffset"].integer ?? 0
        request.fetchBatchSize = object["NSBatchSize"].integer ?? 0
        request.resultType = object["NSResultType"].integer ?? 0
        if object["NSHasFetchRequestFlags"].bool, let flags = object["NSFetchRequestFlags"].integer {
            request.flags = flags
        }
        return request
    }
}

/// The keys in model archives that this library adds where Apple's keys are unknown; Apple's decoder ignores them.
enum ModelArchiveKeys {
    static let allowsCloudEncryption = "OCDAllowsCloudEncryption"
    /// The elements of a composite attribute, an array of attribute descriptions. The first key is Apple's and is
    /// written; the second was written by earlier versions of this framework.
    static let compositeElements = ["NSCompositeElements", "NSElements"]
    /// The name of the elements' composite type, if the source has one.
    static let compositeName = "OCDCompositeName"
    /// The expression of an index element without property, written by earlier versions of this library.
    static let indexExpression = "NSExpression"
    /// The expression description of an index element; Apple's key.
    static let indexedProperty = "NSIndexedProperty"
}

extension FetchRequestElement {
    /// The five flags of a request in its archive; 30 for the defaults.
    ///
    /// 1: distinct results; 2: subentities; 4: property values; 8: faults; 16: pending changes.
    var flags: Int {
        get {
            (returnsDistinctResults ? 1 : 0) | (includesSubentities ? 2 : 0) | (includesPropertyValues ? 4 : 0)
                | (returnsObjectsAsFaults ? 8 : 0) | (includesPendingChanges ? 16 : 0)
        }
        set {
            returnsDistinctResults = newValue & 1 != 0
            includesSubentities = newValue & 2 != 0
            includesPropertyValues = newValue & 4 != 0
            returnsObjectsAsFaults = newValue & 8 != 0
            includesPendingChanges = newValue & 16 != 0
        }
    }
}
