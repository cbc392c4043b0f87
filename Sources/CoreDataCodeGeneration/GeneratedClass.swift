import CoreDataModel
import CoreDataPrimitives

/// A class that is to be generated, or whose members are.
struct GeneratedClass {
    let entityName: String
    let name: String
    /// The class above it: of the nearest ancestor that has one, else `NSManagedObject`.
    let superclass: String
    /// Whether only an extension is generated, to a class that its author writes ("Category/Extension").
    let isExtension: Bool
    /// Whether no ancestor has a class of its own.
    var isRoot: Bool { superclass == SwiftNames.baseClass }
    /// The entity's own properties: attributes, relationships and fetched ones, each sorted by name.
    let properties: [GeneratedProperty]
    /// The nearest class above it that is generated too.
    var generatedAncestor: String?
    /// Whether a class below it is generated.
    var hasGeneratedDescendant = false
    /// Every key path with its key that has to be listed, in order; see ``keyPaths(of:in:)``.
    var keyPaths: [(path: String, key: String)] = []
}

extension GeneratedClass {
    /// The classes to generate, sorted by the names of their entities.
    ///
    /// - Throws: what is wrong with the model, and classes that two entities would both generate.
    static func classes(
        of document: ModelDocument, options: GenerationOptions
    ) throws(ModelFailure) -> [GeneratedClass] {
        _ = try ModelCompiler.compile(document)
        let entities = Dictionary(uniqueKeysWithValues: document.entities.map { ($0.name, $0) })
        let classNames = entities.compactMapValues { options.typeName($0.className) }
        var result: [GeneratedClass] = []
        var owners: [String: EntityElement] = [:]
        var problems: [Diagnostic] = []
        for entity in document.entities.sorted(by: { $0.name < $1.name }) {
            guard let name = classNames[entity.name], !name.contains("."), options.generates(entity) else { continue }
            if let owner = owners[name] {
                problems.append(
                    Diagnostic(
                        .error, "entities '\(owner.name)' and '\(entity.name)' would both generate class '\(name)'",
                        at: entity.location, sourceLine: document.sourceLine(at: entity.location),
                        hint: "give one of them another class, or set its Codegen to Manual/None"))
                continue
            }
            owners[name] = entity
            result.append(
                GeneratedClass(
                    entityName: entity.name, name: name,
                    superclass: superclass(of: entity, entities, classNames),
                    isExtension: options.style == .xcode && entity.codeGenerationType == "category",
                    properties: properties(of: entity, classNames)))
        }
        if !problems.isEmpty { throw ModelFailure(diagnostics: problems) }
        let byEntity = Dictionary(uniqueKeysWithValues: result.map { ($0.entityName, $0) })
        let parents = Set(result.map { ancestor(of: $0.entityName, byEntity, entities) })
        for index in result.indices {
            result[index].generatedAncestor = ancestor(of: result[index].entityName, byEntity, entities)
            result[index].hasGeneratedDescendant = parents.contains(result[index].name)
            result[index].keyPaths = keyPaths(
                of: result[index], byEntity, entities, inheritsAll: options.style == .humanMachine)
        }
        return result
    }

    private static func superclass(
        of entity: EntityElement, _ entities: [String: EntityElement], _ classNames: [String: String]
    ) -> String {
        var parent = entity.parentName
        while let name = parent {
            // Subentities that share their parent's class are no subclasses of it.
            if let found = classNames[name], found != classNames[entity.name] { return found }
            parent = entities[name]?.parentName
        }
        return SwiftNames.baseClass
    }

    /// The name of the nearest generated class above an entity's.
    private static func ancestor(
        of entityName: String, _ byEntity: [String: GeneratedClass], _ entities: [String: EntityElement]
    ) -> String? {
        var next = entities[entityName]?.parentName
        while let name = next {
            if let found = byEntity[name] { return found.name }
            next = entities[name]?.parentName
        }
        return nil
    }

    private static func properties(
        of entity: EntityElement, _ classNames: [String: String]
    ) -> [GeneratedProperty] {
        func rank(_ property: PropertyElement) -> Int {
            switch property.kind {
            case .attribute: 0
            case .relationship: 1
            case .fetched: 2
            }
        }
        return entity.properties.sorted { (rank($0), $0.name) < (rank($1), $1.name) }
            .map { GeneratedProperty($0, classNames: classNames) }
    }

    /// The key paths from a class, with what they are called in the model.
    ///
    /// Every property is listed, inherited ones too. Longer paths follow from these (see `ManagedKeyPaths` in
    /// CoreData), but for a step over an inherited accessor, which shows itself differently in every module; so paths
    /// of two steps that have one are listed as well.
    ///
    /// - Parameter inheritsAll: whether even the class's own properties are declared by a class above it.
    private static func keyPaths(
        of generated: GeneratedClass, _ byEntity: [String: GeneratedClass], _ entities: [String: EntityElement],
        inheritsAll: Bool
    ) -> [(path: String, key: String)] {
        /// The properties that have generated accessors, with whether they are inherited.
        func accessors(of entityName: String) -> [(property: GeneratedProperty, isInherited: Bool)] {
            var found: [(GeneratedProperty, Bool)] = []
            var next: String? = entityName
            while let name = next {
                let isInherited = inheritsAll || name != entityName
                found += (byEntity[name]?.properties ?? []).map { ($0, isInherited) }
                next = entities[name]?.parentName
            }
            return found.filter { $0.0.access != .fetched }
        }
        let byClass = Dictionary(byEntity.map { ($0.value.name, $0.key) }, uniquingKeysWith: { first, _ in first })
        let root = "\\" + SwiftNames.identifier(generated.name)
        var result: [(path: String, key: String)] = []
        for (first, isInherited) in accessors(of: generated.entityName) {
            let path = "\(root).\(SwiftNames.identifier(first.name))"
            result.append((path, first.name))
            guard first.isToOne, let destination = first.destinationClass.flatMap({ byClass[$0] }) else { continue }
            for (second, isInheritedToo) in accessors(of: destination) where isInherited || isInheritedToo {
                result.append(("\(path)?.\(SwiftNames.identifier(second.name))", "\(first.name).\(second.name)"))
            }
        }
        return result
    }
}

extension GenerationOptions {
    fileprivate func generates(_ entity: EntityElement) -> Bool {
        includesManual || style == .humanMachine || ["class", "category"].contains(entity.codeGenerationType)
    }
}
