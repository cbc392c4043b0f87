import CoreDataModel
import CoreDataPrimitives

/// A class to generate, or to generate an extension of.
struct GeneratedClass {
    let entityName: String
    let name: String
    /// The superclass: the class of the nearest ancestor with a class of its own, else `NSManagedObject`.
    let superclass: String
    /// Whether only an extension of the author's class is generated ("Category/Extension").
    let isExtension: Bool
    /// Whether no ancestor has a class of its own.
    var isRoot: Bool { superclass == SwiftNames.baseClass }
    /// The entity's own properties: attributes, relationships and fetched ones, each sorted by name.
    let properties: [GeneratedProperty]
    /// The nearest generated class among its superclasses.
    var generatedAncestor: String?
    /// Whether a subclass of it is generated.
    var hasGeneratedDescendant = false
    /// Every key path that must be listed, with its key, in order; see ``keyPaths(of:in:)``.
    var keyPaths: [(path: String, key: String)] = []
}

extension GeneratedClass {
    /// Returns the classes to generate, sorted by the names of their entities.
    ///
    /// - Throws: the errors of the model, and an error for a class that two entities would both generate.
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
            // Subentities with their parent's class are no subclasses of it.
            if let found = classNames[name], found != classNames[entity.name] { return found }
            parent = entities[name]?.parentName
        }
        return SwiftNames.baseClass
    }

    /// Returns the name of the nearest generated class among an entity's ancestors.
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

    /// Returns the key paths that start at a class, with their keys in the model.
    ///
    /// Every property is listed, including inherited ones. CoreData derives longer paths from these (see
    /// `ManagedKeyPaths`). An exception is a step over an inherited accessor, whose representation differs between
    /// modules; so paths of two steps with such a step are listed too.
    ///
    /// - Parameter inheritsAll: whether a superclass declares even the class's own properties.
    private static func keyPaths(
        of generated: GeneratedClass, _ byEntity: [String: GeneratedClass], _ entities: [String: EntityElement],
        inheritsAll: Bool
    ) -> [(path: String, key: String)] {
        /// Returns the properties with generated accessors, and whether they are inherited.
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
