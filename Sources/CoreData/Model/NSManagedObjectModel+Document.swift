import CoreDataModel
import CoreDataPrimitives
import Foundation

// Models as documents, in both directions.

extension NSManagedObjectModel {
    /// Makes a model of a document.
    ///
    /// - Throws: a `CocoaError` that lists everything that is wrong with the document.
    package convenience init(document: ModelDocument) throws {
        self.init()
        try adopt(document)
    }

    /// Fills a new model from a document, which is compiled on the way.
    final func adopt(_ document: ModelDocument) throws {
        let compiled: CompiledModel
        do {
            compiled = try ModelCompiler.compile(document)
        } catch {
            throw CoreDataErrors.modelInvalid(error.diagnostics)
        }
        var composites = Dictionary(
            document.composites.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var problems: [Diagnostic] = []
        var made: [NSEntityDescription] = []
        for element in document.entities {
            let entity = NSEntityDescription()
            do {
                try entity.adopt(element, composites: &composites)
            } catch {
                problems.append(document.diagnostic(for: error, in: "entity '\(element.name)'", at: element.location))
            }
            entity.pendingSuperentityName = element.parentName
            made.append(entity)
        }
        entities = made
        // Setting the parent's subentities has discarded the hashes of the file, which are still valid.
        for (entity, element) in zip(made, document.entities) { entity.knownVersionHash = element.knownVersionHash }
        for element in document.fetchRequests {
            do {
                templates[element.name] = try NSFetchRequest.make(element)
            } catch {
                problems.append(
                    document.diagnostic(for: error, in: "fetch request '\(element.name)'", at: element.location))
            }
        }
        if problems.hasErrors { throw CoreDataErrors.modelInvalid(problems) }
        bindTemplates()
        let byName = entitiesByName
        for configuration in document.configurations {
            configurationMembers[configuration.name] = configuration.entityNames.compactMap { byName[$0] }
        }
        versionIdentifiers = Set(document.versionIdentifiers.map { AnyHashable($0) })
        appliesIndexDecodingQuirk = document.appliesIndexDecodingQuirk
        origin = document.origin
        didCompile(compiled)
    }

    /// The model as a document; entities without a name, which the compiler complains about, included.
    package final func makeDocument() -> ModelDocument {
        var document = ModelDocument()
        document.versionIdentifiers = versionIdentifiers.map { "\($0.base)" }.sorted()
        document.entities = entities.map { $0.makeElement() }
        document.appliesIndexDecodingQuirk = appliesIndexDecodingQuirk
        document.origin = origin
        document.fetchRequests = templates.sorted { $0.key < $1.key }.map { $0.value.makeElement(name: $0.key) }
        document.configurations = configurationMembers.sorted { $0.key < $1.key }.map { name, members in
            var element = ConfigurationElement(name: name)
            element.entityNames = members.compactMap(\.name)
            return element
        }
        return document
    }

    /// Gives templates and fetched properties that know their entity by name only the model's entity.
    final func bindTemplates() {
        let byName = entitiesByName
        func bind(_ request: AnyFetchRequest?) {
            guard let request, request.entity?.model !== self else { return }
            request.entity = request.entityName.flatMap { byName[$0] } ?? request.entity
        }
        templates.values.forEach(bind)
        for entity in entities {
            for property in entity.ownProperties {
                bind((property as? NSFetchedPropertyDescription)?.fetchRequest)
            }
        }
    }
}

extension ModelDocument {
    /// Returns a predicate's failure as a problem of the document, at the place of the element with the predicate.
    fileprivate func diagnostic(for error: any Error, in what: String, at place: SourceLocation?) -> Diagnostic {
        let found = PredicateText.diagnostic(of: error)
        return Diagnostic(
            .error, "\(what): \(found?.message ?? String(describing: error))", at: place,
            sourceLine: sourceLine(at: place), hint: found?.hint)
    }
}
