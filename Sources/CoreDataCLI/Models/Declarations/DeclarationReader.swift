import CoreDataDeclarations
import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Makes a document from the calls that declare a model.
struct DeclarationReader {
    let problems: ReadingProblems

    func document(_ call: SwiftCallExpression, at place: SourceLocation) -> ModelDocument {
        var document = ModelDocument()
        var reader = SwiftCallReader(call, at: place, problems)
        document.versionIdentifiers = reader.list("versionIdentifiers").compactMap { value in
            if case .text(let text) = value.content { return text }
            return reader.wrong(value, "a text in quotes")
        }
        document.appliesIndexDecodingQuirk = reader.flag("indexesAreCompiled") ?? false
        reader.finish()
        for part in call.body {
            guard case .call(let call) = part.content else {
                let _: Int? = reader.wrong(part, "a part of a model")
                continue
            }
            add(call, at: part.place, to: &document)
        }
        return document
    }

    private func add(_ call: SwiftCallExpression, at place: SourceLocation, to document: inout ModelDocument) {
        switch call.name {
        case "ModelEntity": document.entities.append(entity(call, at: place))
        case "ModelComposite":
            var reader = SwiftCallReader(call, at: place, problems)
            var composite = CompositeElement(name: reader.requiredText(nil))
            composite.location = place
            composite.properties = call.body.compactMap { property($0, of: composite.name) }
            document.composites.append(composite)
            reader.finish()
            refuseModifiers(of: call)
        case "ModelFetchRequest":
            var reader = SwiftCallReader(call, at: place, problems)
            document.fetchRequests.append(fetchRequest(&reader, name: reader.text(nil) ?? ""))
            reader.finish()
            refuseModifiers(of: call)
        case "ModelConfiguration":
            var reader = SwiftCallReader(call, at: place, problems)
            var configuration = ConfigurationElement(name: reader.requiredText(nil))
            configuration.location = place
            configuration.entityNames = reader.texts("entities")
            document.configurations.append(configuration)
            reader.finish()
            refuseModifiers(of: call)
        default: problems.report("'\(call.name)' is no part of a model that is read here", at: place)
        }
    }

    private func refuseModifiers(of call: SwiftCallExpression) {
        for modifier in call.modifiers { problems.report("\(call.name) has no such modifier", at: modifier.place) }
    }

    // MARK: Entities

    private func entity(_ call: SwiftCallExpression, at place: SourceLocation) -> EntityElement {
        var reader = SwiftCallReader(call, at: place, problems)
        var entity = EntityElement(name: reader.requiredText(nil))
        entity.location = place
        entity.className = reader.text("className")
        entity.parentName = reader.text("parent")
        entity.isAbstract = reader.flag("isAbstract") ?? false
        reader.finish()
        for part in call.body {
            guard case .call(let call) = part.content else {
                let _: Int? = reader.wrong(part, "a part of an entity")
                continue
            }
            switch call.name {
            case "ModelIndex": entity.fetchIndexes.append(index(call, at: part.place))
            case "ModelConstraint":
                var reader = SwiftCallReader(call, at: part.place, problems)
                entity.uniquenessConstraints.append(reader.texts(nil))
                reader.finish()
                refuseModifiers(of: call)
            default:
                if let property = property(part, of: entity.name) { entity.properties.append(property) }
            }
        }
        for modifier in call.modifiers { apply(modifier, to: &entity) }
        return entity
    }

    private func apply(_ modifier: SwiftExpression, to entity: inout EntityElement) {
        guard case .call(let call) = modifier.content else { return }
        var reader = SwiftCallReader(call, at: modifier.place, problems)
        switch call.name {
        case "renamed": entity.renamingIdentifier = reader.requiredText("from")
        case "versionHashModifier": entity.versionHashModifier = reader.requiredText(nil)
        case "userInfo": entity.userInfo.merge(reader.dictionary(nil)) { $1 }
        case "spotlightDisplayName": entity.coreSpotlightDisplayNameExpression = reader.requiredText(nil)
        case "compoundIndex": entity.compoundIndexes.append(reader.texts(nil))
        case "versionHash":
            let text = reader.requiredText(nil)
            entity.knownVersionHash = Data(base64Encoded: text)
            if entity.knownVersionHash == nil { problems.report("'\(text)' is not base64", at: modifier.place) }
        default: problems.report("an entity has no modifier '\(call.name)'", at: modifier.place)
        }
        reader.finish()
    }

    private func index(_ call: SwiftCallExpression, at place: SourceLocation) -> FetchIndexElement {
        var reader = SwiftCallReader(call, at: place, problems)
        var index = FetchIndexElement(name: reader.requiredText(nil))
        index.location = place
        index.predicate = reader.text("where")
        index.elements = reader.takeAll("on").map { value in
            switch value.content {
            case .text(let name): return FetchIndexElement.Element(propertyName: name)
            case .call(let call) where call.hasLeadingPoint: return element(call, at: value.place)
            default:
                let _: Int? = reader.wrong(value, "a property's name")
                return FetchIndexElement.Element()
            }
        }
        reader.finish()
        refuseModifiers(of: call)
        return index
    }

    private func element(_ call: SwiftCallExpression, at place: SourceLocation) -> FetchIndexElement.Element {
        var reader = SwiftCallReader(call, at: place, problems)
        let text = reader.requiredText(nil)
        var element = FetchIndexElement.Element(propertyName: text)
        switch call.name {
        case "ascending": break
        case "descending": element.isAscending = false
        case "rTree":
            element.isRTree = true
            element.isAscending = reader.flag("ascending") ?? true
        case "expression":
            element = FetchIndexElement.Element(expression: text)
            element.expressionType = reader.text("type")
            element.isAscending = reader.flag("ascending") ?? true
        default: problems.report("an index has no element '\(call.name)'", at: place)
        }
        reader.finish()
        return element
    }

    // MARK: Fetch requests

    func fetchRequest(_ reader: inout SwiftCallReader, name: String) -> FetchRequestElement {
        var request = FetchRequestElement(name: name)
        request.location = reader.place
        request.entityName = reader.requiredText("entity")
        request.predicate = reader.text("predicate")
        request.sorts = reader.list("sort").compactMap { value in
            guard case .call(let call) = value.content, ["ascending", "descending"].contains(call.name) else {
                return reader.wrong(value, ".ascending(…) or .descending(…)")
            }
            var sort = SwiftCallReader(call, at: value.place, problems)
            defer { sort.finish() }
            return .init(
                key: sort.requiredText(nil), isAscending: call.name == "ascending", selector: sort.text("selector"))
        }
        request.fetchLimit = reader.integer("limit") ?? 0
        request.fetchOffset = reader.integer("offset") ?? 0
        request.fetchBatchSize = reader.integer("batchSize") ?? 0
        if let (type, place) = reader.member("resultType") {
            let types = [
                "managedObjectResultType": 0, "managedObjectIDResultType": 1, "dictionaryResultType": 2,
                "countResultType": 4,
            ]
            if let code = types[type.name] {
                request.resultType = code
            } else {
                problems.report("there is no result type '\(type.name)'", at: place)
            }
        }
        for option in reader.list("options") {
            guard case .call(let call) = option.content, apply(option: call.name, to: &request) else {
                problems.report("a fetch request has no such option", at: option.place)
                continue
            }
        }
        return request
    }

    private func apply(option: String, to request: inout FetchRequestElement) -> Bool {
        switch option {
        case "withoutSubentities": request.includesSubentities = false
        case "withoutPropertyValues": request.includesPropertyValues = false
        case "withoutPendingChanges": request.includesPendingChanges = false
        case "withoutFaults": request.returnsObjectsAsFaults = false
        case "distinctResults": request.returnsDistinctResults = true
        default: return false
        }
        return true
    }
}
