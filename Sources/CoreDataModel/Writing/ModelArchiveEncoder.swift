import CoreDataPrimitives
import Foundation

extension ModelArchive {
    /// Returns the model as a `.mom`: a keyed archive with Apple's classes and keys.
    ///
    /// Throws the errors of a model that does not compile. Predicates that are not plain comparisons are archived as
    /// text, which only this library reads.
    package static func archive(_ document: ModelDocument) throws(ModelFailure) -> Data {
        _ = try ModelCompiler.compile(document)
        var encoder = ModelArchiveEncoder(document, form: .compiledModel)
        return encoder.encode()
    }

    /// Returns the compressed model that a store caches in `Z_MODELCACHE`.
    package static func modelCache(for document: ModelDocument) throws(ModelFailure) -> Data {
        _ = try ModelCompiler.compile(document)
        var encoder = ModelArchiveEncoder(document, form: .storeCache)
        return try RawDeflate.compress(encoder.encode())
    }
}

/// Archives a ``ModelDocument``, which must compile.
struct ModelArchiveEncoder {
    enum Form {
        case compiledModel
        case storeCache
    }

    private let document: ModelDocument
    private let form: Form
    private var writer = KeyedArchiveWriter()
    private var modelReference = KeyedArchiveWriter.null
    /// Objects that others refer to before they are written.
    private var entityReferences: [String: PropertyListValue] = [:]
    private var propertyReferences: [String: PropertyListValue] = [:]
    private let entityByName: [String: EntityElement]
    /// The number of index elements so far; they are numbered across the model.
    private var expressionCount = 0

    init(_ document: ModelDocument, form: Form) {
        self.document = document
        self.form = form
        entityByName = Dictionary(document.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func encode() -> Data {
        modelReference = writer.reserve()
        let entities = document.entities.sorted { NameOrder.byCodeUnits($0.name, $1.name) }
        for entity in entities {
            entityReferences[entity.name] = writer.reserve()
            for property in entity.properties {
                propertyReferences["\(entity.name).\(property.name)"] = writer.reserve()
            }
        }
        for entity in entities { define(entity) }

        let entries = entities.map { ($0.name, reference(toEntity: $0.name)) }
        let requests = document.fetchRequests.sorted { NameOrder.byCodeUnits($0.name, $1.name) }
            .map { ($0.name, request($0)) }
        let identifiers = document.versionIdentifiers.map { writer.text($0) }
        var values: [String: PropertyListValue] = [
            "NSEntities": dictionary(entries),
            "NSFetchRequestTemplates": requests.isEmpty ? KeyedArchiveWriter.null : dictionary(requests),
            "NSVersionIdentifiers": writer.set(identifiers),
        ]
        if !document.configurations.isEmpty { values["NSConfigurations"] = configurations() }
        writer.define(modelReference, ["NSManagedObjectModel"], values)
        return writer.data(root: modelReference)
    }

    private mutating func dictionary(_ entries: [(String, PropertyListValue)]) -> PropertyListValue {
        let entries = entries.map { (key: $0.0, value: $0.1) }
        return form == .storeCache
            ? writer.knownKeysDictionary(entries) : writer.dictionary(entries, isMutable: true)
    }

    private mutating func configurations() -> PropertyListValue {
        let sorted = document.configurations.sorted { NameOrder.byCodeUnits($0.name, $1.name) }
        return writer.dictionary(
            sorted.map { configuration in
                let members = configuration.entityNames.map { reference(toEntity: $0) }
                return (configuration.name, form == .storeCache ? writer.set(members) : writer.array(members))
            }, isMutable: true)
    }

    private func reference(toEntity name: String?) -> PropertyListValue {
        name.flatMap { entityReferences[$0] } ?? KeyedArchiveWriter.null
    }

    // MARK: Entities

    private mutating func define(_ entity: EntityElement) {
        let className = entity.className == "NSManagedObject" ? nil : entity.className
        let children = document.entities.filter { $0.parentName == entity.name }
            .sorted { NameOrder.byCodeUnits($0.name, $1.name) }
            .map { (key: $0.name, value: reference(toEntity: $0.name)) }
        let properties = entity.properties.sorted { NameOrder.byCodeUnits($0.name, $1.name) }
        let userInfo = entity.userInfo.sorted { NameOrder.byCodeUnits($0.key, $1.key) }
        var values: [String: PropertyListValue] = [
            "NSEntityName": writer.text(entity.name), "NSClassNameForEntity": writer.text(className),
            "NSManagedObjectModel": modelReference, "NSSuperentity": reference(toEntity: entity.parentName),
            "NSSubentities": writer.dictionary(children, isMutable: true),
            "NSUserInfo": writer.dictionary(userInfo.map { ($0.key, writer.text($0.value)) }),
            "NSRenamingIdentifier": writer.text(entity.renamingIdentifier ?? entity.name),
            "NSVersionHashModifier": writer.text(entity.versionHashModifier),
        ]
        if entity.isAbstract { values["NSIsAbstract"] = .bool(true) }
        if let text = entity.coreSpotlightDisplayNameExpression {
            values["NSCoreSpotlightDisplayName"] = PredicateArchiveWriter.expression(text, in: &writer)
        }
        for property in properties { define(property, of: entity) }
        values["NSProperties"] = writer.dictionary(
            properties.map { ($0.name, propertyReferences["\(entity.name).\($0.name)"] ?? KeyedArchiveWriter.null) },
            isMutable: true)
        addIndexes(of: entity, to: &values)
        writer.define(reference(toEntity: entity.name), ["NSEntityDescription"], values)
    }

    private mutating func addIndexes(of entity: EntityElement, to values: inout [String: PropertyListValue]) {
        if !entity.uniquenessConstraints.isEmpty {
            values["NSUniqueTuples"] = nameLists(entity.uniquenessConstraints)
        }
        // A cached model also lists implied indexes.
        let indexes = form == .storeCache ? document.storedIndexes(of: entity) : entity.fetchIndexes
        if !indexes.isEmpty {
            let references = indexes.map { fetchIndex($0, of: entity) }
            values["NSFetchIndexDescriptions"] = writer.array(references, isMutable: true)
        }
        // Old frameworks read indexes of several properties only from these lists.
        var several = entity.fetchIndexes.filter { $0.elements.allSatisfy { $0.listedName != nil } }
            .map { $0.elements.compactMap(\.listedName) }.filter { $0.count > 1 }
        several += entity.compoundIndexes.filter { !several.contains($0) }
        if !several.isEmpty || (form == .storeCache && !indexes.isEmpty) {
            values["NSCompoundIndexes"] = nameLists(several)
        }
    }

    private mutating func nameLists(_ lists: [[String]]) -> PropertyListValue {
        writer.array(
            lists.map { names in writer.array(names.map { writer.text($0) }, isMutable: true) }, isMutable: true)
    }

    private mutating func fetchIndex(_ index: FetchIndexElement, of entity: EntityElement) -> PropertyListValue {
        let reference = writer.reserve()
        let elements = index.elements.map { element in
            var values: [String: PropertyListValue] = [
                "NSPropertyName": writer.text(element.propertyName), "NSFetchIndexDescription": reference,
                "NSFetchIndexElementType": .integer(element.isRTree ? 1 : 0), "NSAscending": .bool(element.isAscending),
            ]
            if element.propertyName == nil { addExpression(of: element, to: &values) }
            return writer.object(["NSFetchIndexElementDescription"], values)
        }
        writer.define(
            reference, ["NSFetchIndexDescription"],
            [
                "NSIndexName": writer.text(index.name), "NSEntity": self.reference(toEntity: entity.name),
                "NSIndexElements": writer.array(elements),
                "NSPartialIndexPredicate": PredicateArchiveWriter.predicate(index.predicate, in: &writer),
            ])
        return reference
    }

    /// Adds a property for the expression: `expression1`, `expression2`, ….
    private mutating func addExpression(
        of element: FetchIndexElement.Element, to values: inout [String: PropertyListValue]
    ) {
        expressionCount += 1
        let name = writer.text("expression\(expressionCount)")
        values["NSPropertyName"] = name
        values[ModelArchiveKeys.indexedProperty] = writer.object(
            ["NSExpressionDescription", "NSPropertyDescription"],
            [
                "NSPropertyName": name, "_P": .integer(241),
                "NSExpression": PredicateArchiveWriter.expression(element.expression, in: &writer),
                "NSExpressionType": .integer(Int64((element.resultType ?? element.impliedType).rawValue)),
            ])
    }

    // MARK: Properties

    private mutating func define(_ property: PropertyElement, of entity: EntityElement) {
        guard let target = propertyReferences["\(entity.name).\(property.name)"] else { return }
        define(property, as: target, of: entity)
    }

    private mutating func define(_ property: PropertyElement, as target: PropertyListValue, of entity: EntityElement) {
        var values: [String: PropertyListValue] = [
            "NSPropertyName": writer.text(property.name), "NSEntity": reference(toEntity: entity.name),
            "NSRenamingIdentifier": writer.text(property.renamingIdentifier ?? property.name),
        ]
        var classes = ["NSPropertyDescription"]
        var isReadOnly = false
        switch property.kind {
        case .attribute(let attribute):
            classes = encode(attribute, of: entity, in: &values) + classes
            isReadOnly = attribute.derivationExpression != nil
        case .relationship(let relationship):
            classes.insert("NSRelationshipDescription", at: 0)
            encode(relationship, in: &values)
        case .fetched(let request):
            classes.insert("NSFetchedPropertyDescription", at: 0)
            isReadOnly = true
            values["NSFetchRequest"] = self.request(request)
            values["_NSFetchRequestEntityName"] = writer.text(request.entityName)
        }
        let isTransient = property.isTransient || property.isFetched
        if property.isOptional { values["NSIsOptional"] = .bool(true) }
        if isTransient { values["NSIsTransient"] = .bool(true) }
        if isReadOnly { values["NSIsReadOnly"] = .bool(true) }
        if document.isIndexed(property, of: entity) { values["NSIsIndexed"] = .bool(true) }
        if property.isIndexedBySpotlight { values["NSIndexedBySpotlight"] = .bool(true) }
        if property.isStoredInTruthFile { values["NSIsStoredInTruth"] = .bool(true) }
        if let modifier = property.versionHashModifier { values["NSVersionHashModifier"] = writer.text(modifier) }
        if !property.userInfo.isEmpty {
            let userInfo = property.userInfo.sorted { NameOrder.byCodeUnits($0.key, $1.key) }
            values["NSUserInfo"] = writer.dictionary(userInfo.map { ($0.key, writer.text($0.value)) })
        }
        encode(property.validations, in: &values)
        values["_P"] = .integer(bits(of: property, isTransient: isTransient, isReadOnly: isReadOnly))
        writer.define(target, classes, values)
    }

    /// Returns the bit set of the common flags, which the archive repeats.
    private func bits(of property: PropertyElement, isTransient: Bool, isReadOnly: Bool) -> Int64 {
        var isOrdered = false
        if case .relationship(let relationship) = property.kind { isOrdered = relationship.isOrdered }
        let flags: [(Bool, Int64)] = [
            (true, 1), (property.isOptional, 2), (isReadOnly, 4), (isTransient, 8),
            (property.validations.isEmpty, 0x30), (property.userInfo.isEmpty, 0x40),
            (property.versionHashModifier == nil, 0x80), (property.isIndexedBySpotlight, 0x100),
            (property.isStoredInTruthFile, 0x200), (isOrdered, 0x400),
        ]
        return flags.reduce(0) { $1.0 ? $0 | $1.1 : $0 }
    }

    private mutating func encode(_ validations: [ValidationElement], in values: inout [String: PropertyListValue]) {
        if validations.isEmpty { return }
        let predicates = validations.map { PredicateArchiveWriter.predicate($0.predicate, in: &writer) }
        // Codes are numbers; the model's own warnings are texts.
        let warnings = validations.map { validation in
            Int64(validation.warning).map { writer.scalar(.integer($0)) } ?? writer.text(validation.warning)
        }
        values["NSValidationPredicates"] = writer.array(predicates)
        values["NSValidationWarnings"] = writer.array(warnings)
    }

    /// Adds the fields of an attribute, and returns its classes below `NSPropertyDescription`.
    private mutating func encode(
        _ attribute: AttributeElement, of entity: EntityElement, in values: inout [String: PropertyListValue]
    ) -> [String] {
        let value = (try? DefaultValue.of(attribute).get()) ?? attribute.defaultValue
        let flags =
            (attribute.allowsExternalBinaryDataStorage ? 4 : 0) | (attribute.preservesValueInHistoryOnDeletion ? 16 : 0)
        values["NSAttributeType"] = .integer(Int64(attribute.type.rawValue))
        let traits = attribute.type.traits
        values["NSAttributeValueClassName"] = writer.text(
            (traits.kind == .reference ? nil : traits.className) ?? attribute.customClassName)
        values["NSDefaultValue"] = ArchivedDefault.reference(to: value, type: attribute.type, in: &writer)
        values["NSValueTransformerName"] = writer.text(attribute.valueTransformerName)
        values["NSFlagsKey"] = .integer(Int64(flags))
        if attribute.allowsCloudEncryption { values[ModelArchiveKeys.allowsCloudEncryption] = .bool(true) }
        if let expression = attribute.derivationExpression {
            values["NSDerivationExpression"] = PredicateArchiveWriter.expression(expression, in: &writer)
            values["NSFilteringPredicate"] = PredicateArchiveWriter.predicate(attribute.derivationFilter, in: &writer)
            return ["NSDerivedAttributeDescription", "NSAttributeDescription"]
        }
        if attribute.type == .composite {
            let named = attribute.compositeName.flatMap { name in document.composites.first { $0.name == name } }
            let elements = (named?.properties ?? attribute.elements).map { element in
                let reference = writer.reserve()
                define(element, as: reference, of: entity)
                return reference
            }
            values[ModelArchiveKeys.compositeElements[0]] = writer.array(elements)
            if let named { values[ModelArchiveKeys.compositeName] = writer.text(named.name) }
            return ["NSCompositeAttributeDescription", "NSAttributeDescription"]
        }
        return ["NSAttributeDescription"]
    }

    private mutating func encode(
        _ relationship: RelationshipElement, in values: inout [String: PropertyListValue]
    ) {
        values["NSDestinationEntity"] = reference(toEntity: relationship.destinationName)
        values["_NSDestinationEntityName"] = writer.text(relationship.destinationName)
        values["NSMinCount"] = .integer(Int64(relationship.minCount))
        values["NSMaxCount"] = .integer(Int64(relationship.maxCount))
        values["NSDeleteRule"] = .integer(Int64(relationship.deleteRule.rawValue))
        if relationship.isOrdered { values["NSIsOrdered"] = .bool(true) }
        if let inverse = relationship.inverseName, !inverse.isEmpty {
            values["_NSInverseRelationshipName"] = writer.text(inverse)
            values["NSInverseRelationship"] = self.inverse(inverse, in: relationship.destinationName)
        }
    }

    /// Returns the inverse from its declaration: the destination, or the nearest ancestor that declares it.
    private func inverse(_ name: String, in entity: String?) -> PropertyListValue {
        var current = entity
        while let entity = current {
            if let reference = propertyReferences["\(entity).\(name)"] { return reference }
            current = entityByName[entity]?.parentName
        }
        return KeyedArchiveWriter.null
    }

    // MARK: Requests

    private mutating func request(_ request: FetchRequestElement) -> PropertyListValue {
        let sorts = request.sorts.map { sort in
            writer.object(
                ["NSSortDescriptor"],
                [
                    "NSKey": writer.text(sort.key), "NSAscending": .bool(sort.isAscending),
                    "NSSelector": writer.text(sort.selector ?? "compare:"), "NSReverseNullOrder": .bool(false),
                ])
        }
        let null = KeyedArchiveWriter.null
        return writer.object(
            ["NSFetchRequest", "NSPersistentStoreRequest"],
            [
                "NSEntity": reference(toEntity: request.entityName),
                "NSPredicate": PredicateArchiveWriter.predicate(request.predicate, in: &writer),
                "NSSortDescriptors": sorts.isEmpty ? null : writer.array(sorts),
                "NSFetchLimit": .integer(Int64(request.fetchLimit)),
                "NSFetchOffset": .integer(Int64(request.fetchOffset)),
                "NSBatchSize": .integer(Int64(request.fetchBatchSize)),
                "NSResultType": .integer(Int64(request.resultType)), "NSHasFetchRequestFlags": .bool(true),
                "NSFetchRequestFlags": .integer(Int64(request.flags)), "NSHavingPredicate": null,
                "NSRelationshipKeyPathsForPrefetching": null, "NSValuesToFetch": null, "NSValuesToGroupBy": null,
            ])
    }
}
