import CoreDataModel
import CoreDataPrimitives

/// Checks predicates and derivations, which requires a parser of their language.
extension ModelLinter {
    mutating func checkTexts() {
        guard let texts else { return }
        for request in document.fetchRequests {
            check(
                request, named: "fetch request '\(request.name)'", subject: request.name, at: request.location,
                source: nil, texts)
        }
        for property in declared {
            let path = compilation.path(property.element, in: property.entity)
            switch property.element.kind {
            case .fetched(let request):
                check(
                    request, named: "fetched property '\(path)'", subject: path,
                    at: compilation.location(property.element, in: property.entity), source: property.entity, texts)
            case .attribute(let attribute):
                checkDefault(attribute, property, texts)
                checkDerivation(attribute, property, texts)
            case .relationship: break
            }
        }
        for (index, entity) in entities.enumerated() {
            for fetchIndex in entity.fetchIndexes {
                guard let predicate = fetchIndex.predicate, !predicate.isEmpty else { continue }
                let count = findings.count
                check(
                    predicate, named: "index '\(fetchIndex.name)' of entity '\(entity.name)'", subject: entity.name,
                    at: fetchIndex.location ?? entity.location, entity: index, source: nil, texts)
                if findings.count == count { checkStorable(fetchIndex, of: index, texts) }
            }
        }
    }

    /// Checks that an index can use the predicate; not every predicate is supported.
    private mutating func checkStorable(
        _ fetchIndex: FetchIndexElement, of index: Int, _ texts: ModelTextChecker
    ) {
        guard let model = compilation.model else { return }
        let entity = model.entities[compilation.ordinals[index]]
        guard let compiled = entity.fetchIndexes.first(where: { $0.name == fetchIndex.name }),
            let problem = texts.indexProblem(of: compiled, in: entity, of: model)
        else { return }
        report(
            .badIndex, problem, subject: entity.name, at: fetchIndex.location ?? entities[index].location,
            hint: model.isAccepted
                ? "stores are made without the index" : "no store can be made of the model with the index",
            severity: model.isAccepted ? .warning : nil)
    }

    // MARK: Predicates

    private mutating func check(
        _ request: FetchRequestElement, named name: String, subject: String, at place: SourceLocation?,
        source: Int?, _ texts: ModelTextChecker
    ) {
        let entity = request.entityName.flatMap { compilation.indexByName[$0] }
        if let predicate = request.predicate, !predicate.isEmpty {
            check(predicate, named: name, subject: subject, at: place, entity: entity, source: source, texts)
        }
        guard let entity else { return }
        for sort in request.sorts {
            guard let problem = problem(sort.key.split(separator: ".").map(String.init), from: entity) else { continue }
            report(
                .unknownKey, "\(name) sorts by '\(sort.key)', but \(problem)", subject: subject, at: place,
                hint: spelling)
        }
    }

    private var spelling: String { "keys are spelled as the model spells them, upper and lower case included" }

    private mutating func check(
        _ predicate: String, named name: String, subject: String, at place: SourceLocation?, entity: Int?,
        source: Int?, _ texts: ModelTextChecker
    ) {
        let paths: [ModelKeyPath]
        do {
            paths = try texts.keyPaths(inPredicate: predicate)
        } catch {
            report(
                .badPredicate, "the predicate of \(name) does not parse: \(error.message)", subject: subject, at: place,
                hint: "it reads: \(predicate)")
            return
        }
        var told: Set<[String]> = []
        for path in paths {
            let start: Int?
            switch path.variable {
            case nil: start = entity
            case "FETCH_SOURCE": start = source
            default: start = nil
            }
            guard let start, let problem = problem(path.keys, from: start), told.insert(path.keys).inserted else {
                continue
            }
            report(
                .unknownKey, "the predicate of \(name) reads '\(path.keys.joined(separator: "."))', but \(problem)",
                subject: subject, at: place, hint: spelling)
        }
    }

    /// Keys that every object has.
    private static let commonKeys: Set<String> = ["self", "SELF", "objectID", "entity"]

    /// Returns why the keys are invalid; `nil` if they are valid or if that cannot be determined.
    private func problem(_ keys: [String], from start: Int) -> String? {
        var entity = start
        var rest = keys[...]
        while let key = rest.popFirst() {
            if key.hasPrefix("@") || Self.commonKeys.contains(key) { continue }
            guard let slot = compilation.slotByName[entity][key] else {
                let near = compilation.nearest(to: key, among: compilation.slotByName[entity].keys)
                return "'\(entities[entity].name)' has no property '\(key)'"
                    + (near.map { " (did you mean '\($0)'?)" } ?? "")
            }
            switch compilation.slots[entity][slot].element.kind {
            // The model does not define the keys of an attribute's values.
            case .attribute: return nil
            case .relationship:
                let owner = compilation.slots[entity][slot].declarer
                guard let end = compilation.ends[.init(entity: owner, slot: slot)] else { return nil }
                entity = end.destination
            case .fetched(let request):
                guard let next = request.entityName.flatMap({ compilation.indexByName[$0] }) else { return nil }
                entity = next
            }
        }
        return nil
    }

    // MARK: Attributes

    private mutating func checkDefault(
        _ attribute: AttributeElement, _ property: Declared, _ texts: ModelTextChecker
    ) {
        let path = compilation.path(property.element, in: property.entity)
        let value = (try? DefaultValue.of(attribute).get()) ?? .null
        for validation in attribute.validations {
            do {
                let isValid = try texts.accepts(value.isNull ? .string("") : value, predicate: validation.predicate)
                guard !value.isNull, !isValid else { continue }
                report(
                    .defaultFailsValidation,
                    "the default of attribute '\(path)' fails its own validation (\(validation.predicate)), so a new object "
                        + "cannot be saved before it is set", property.element, in: property.entity,
                    hint: "change the default, or the rule")
            } catch {
                // Check only patterns: other predicates may need more than a single value.
                guard validation.predicate.hasPrefix("SELF MATCHES ") else { continue }
                report(
                    .badPredicate, "the regular expression of attribute '\(path)' does not parse: \(error.message)",
                    property.element, in: property.entity, hint: "it reads: \(validation.predicate.dropFirst(13))")
            }
        }
    }

    private mutating func checkDerivation(
        _ attribute: AttributeElement, _ property: Declared, _ texts: ModelTextChecker
    ) {
        guard attribute.derivationExpression != nil, let model = compilation.model,
            let problem = texts.derivationProblem(
                of: property.slot, in: model.entities[compilation.ordinals[property.entity]], of: model)
        else { return }
        report(
            .badDerivation, problem, property.element, in: property.entity,
            hint: "a store derives from now(), an own attribute, one of a to-one's, and counts and sums over a to-many")
    }
}
