import CoreDataModel
import CoreDataPrimitives
import Foundation

/// The section of a ``ModelPage`` about one entity.
struct EntitySection {
    let page: ModelPage
    let entity: EntityElement

    private var compiled: CompiledEntity? { page.model.entity(named: entity.name) }

    var html: String {
        let anchor = Markup.anchor(entity.name)
        return """
            <article id="\(anchor)" aria-labelledby="title-\(anchor)">
            <h3 id="title-\(anchor)"><code>\(Markup.escaped(entity.name))</code>\(entity.isAbstract ? " <em>abstract</em>" : "")</h3>
            \(facts())
            \(attributes())
            \(relationships())
            \(fetched())
            \(indexes())
            </article>
            """
    }

    // MARK: The entity

    private func facts() -> String {
        var facts: [(String, String)] = []
        func add(_ name: String, _ text: String?) {
            if let text, !text.isEmpty { facts.append((name, text)) }
        }
        add("Parent", page.entityLink(entity.parentName))
        let children = page.document.entities.filter { $0.parentName == entity.name }
            .sorted { NameOrder.ignoringCase($0.name, $1.name) }
        add("Subentities", children.map { page.entityLink($0.name) }.joined(separator: ", "))
        add("Class", entity.className.map(Markup.code))
        add("Table", page.names.tables[entity.name].map(Markup.code))
        let constraints = entity.uniquenessConstraints.map { "(\($0.map(Markup.code).joined(separator: ", ")))" }
        add("Unique by", constraints.joined(separator: " and "))
        let configurations = page.document.configurations.filter { $0.entityNames.contains(entity.name) }.map(\.name)
        add("Configurations", configurations.map(Markup.code).joined(separator: ", "))
        add("Renaming identifier", entity.renamingIdentifier.map(Markup.code))
        add("Hash modifier", entity.versionHashModifier.map(Markup.code))
        add("User info", userInfo(entity.userInfo))
        add("Version hash", compiled.map { "<span class=\"hash\">\(hexadecimal($0.versionHash))</span>" })
        return "<dl>" + facts.map { "<div><dt>\($0.0)</dt><dd>\($0.1)</dd></div>" }.joined() + "</dl>"
    }

    private func hexadecimal(_ data: Data) -> String {
        data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func userInfo(_ info: [String: String]) -> String {
        info.sorted { NameOrder.byCodeUnits($0.key, $1.key) }
            .map { "\(Markup.code($0.key)) = \(Markup.escaped($0.value))" }.joined(separator: "<br>")
    }

    // MARK: Properties

    private var properties: [PropertyElement] {
        entity.properties.sorted { NameOrder.ignoringCase($0.name, $1.name) }
    }

    private func column(_ property: PropertyElement) -> String {
        page.names.columns["\(entity.name).\(property.name)"].map(Markup.code) ?? ""
    }

    private func anchor(_ property: PropertyElement) -> String { Markup.anchor(entity.name, property.name) }

    /// Returns the remarks about a property that are not in its columns.
    private func remarks(_ property: PropertyElement, _ own: [String]) -> String {
        var remarks = own
        if property.isTransient { remarks.append("transient") }
        if property.isIndexedBySpotlight { remarks.append("in Spotlight") }
        if let identifier = property.renamingIdentifier { remarks.append("was \(Markup.code(identifier))") }
        if let modifier = property.versionHashModifier { remarks.append("hash modifier \(Markup.code(modifier))") }
        let info = userInfo(property.userInfo)
        if !info.isEmpty { remarks.append(info) }
        return remarks.joined(separator: "<br>")
    }

    private func attributes() -> String {
        var ids: [String] = []
        let rows = properties.compactMap { property -> [String]? in
            guard case .attribute(let attribute) = property.kind else { return nil }
            ids.append(anchor(property))
            return [
                Markup.code(property.name), type(attribute, of: property), property.isOptional ? "yes" : "no",
                defaultText(attribute, of: property),
                attribute.validations.map { Markup.code($0.predicate) }.joined(separator: "<br>"), column(property),
                remarks(property, details(attribute)),
            ]
        }
        return Markup.table(
            "Attributes of \(entity.name)",
            ["Attribute", "Type", "Optional", "Default", "Validation", "Column", "Remarks"],
            rows, ids: ids)
    }

    private func type(_ attribute: AttributeElement, of property: PropertyElement) -> String {
        guard attribute.type == .composite else { return Markup.escaped(attribute.type.displayName) }
        if ["1", "true", "YES"].contains(property.userInfo["EnumType"] ?? "") {
            // SwiftData stores a raw value in an element with the property's name; otherwise it has an element for each
            // case.
            if attribute.elements.count == 1, let element = attribute.elements.first, element.name == property.name,
                case .attribute(let raw) = element.kind
            {
                return "Enumeration of \(Markup.escaped(raw.type.displayName)) values"
            }
            return "Enumeration of " + attribute.elements.map { Markup.code($0.name) }.joined(separator: ", ")
        }
        if let name = attribute.compositeName { return "Composite " + Markup.code(name) }
        return "Composite of " + attribute.elements.map { Markup.code($0.name) }.joined(separator: ", ")
    }

    private func defaultText(_ attribute: AttributeElement, of property: PropertyElement) -> String {
        if let text = page.defaults["\(entity.name).\(property.name)"] { return Markup.code(text) }
        guard case .success(let value) = DefaultValue.of(attribute) else { return "" }
        switch value {
        case .null: return ""
        case .date(let seconds):
            return Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601)
        case .integer(let number) where attribute.type.kind == .boolean: return number == 0 ? "NO" : "YES"
        case .string(let text): return text.isEmpty ? "<em>empty text</em>" : Markup.code(text)
        case .data(let data): return "\(data.count) bytes"
        default: return Markup.escaped(attribute.defaultValueText ?? Self.plain(value))
        }
    }

    private static func plain(_ value: Value) -> String {
        switch value {
        case .integer(let number): String(number)
        case .double(let number): PredicateText.number(number)
        case .decimal(let number): "\(number)"
        case .uuid(let uuid): uuid.uuidString
        case .uri(let text): text
        default: "set"
        }
    }

    private func details(_ attribute: AttributeElement) -> [String] {
        var details: [String] = []
        if let expression = attribute.derivationExpression {
            details.append("derived from \(Markup.code(DerivationText.written(expression)))")
        }
        if let name = attribute.valueTransformerName { details.append("transformed by \(Markup.code(name))") }
        if let name = attribute.customClassName { details.append("of class \(Markup.code(name))") }
        if attribute.allowsExternalBinaryDataStorage { details.append("large values in files") }
        if attribute.preservesValueInHistoryOnDeletion { details.append("kept in history after deletion") }
        if attribute.allowsCloudEncryption { details.append("encrypted in the cloud") }
        if attribute.usesScalarValueType == true { details.append("scalar") }
        return details
    }

    private func relationships() -> String {
        var ids: [String] = []
        let rows = properties.compactMap { property -> [String]? in
            guard case .relationship(let relationship) = property.kind else { return nil }
            ids.append(anchor(property))
            return [
                Markup.code(property.name), page.entityLink(relationship.destinationName),
                relationship.inverseName.map { inverse($0, relationship) } ?? "none", count(relationship),
                property.isOptional ? "yes" : "no", relationship.deleteRule.fileName, column(property),
                remarks(property, relationship.isOrdered ? ["ordered"] : []),
            ]
        }
        return Markup.table(
            "Relationships of \(entity.name)",
            [
                "Relationship", "Destination", "Inverse", "Count", "Optional", "Delete rule", "Column or join table",
                "Remarks",
            ], rows, ids: ids)
    }

    private func inverse(_ name: String, _ relationship: RelationshipElement) -> String {
        guard let destination = relationship.destinationName.flatMap({ page.model.entity(named: $0) }),
            let property = destination.property(named: name)
        else { return Markup.code(name) }
        return Markup.link(to: Markup.anchor(page.model.entities[property.declaringEntity].name, name), name)
    }

    private func count(_ relationship: RelationshipElement) -> String {
        if relationship.maxCount == 1 { return "to-one" }
        switch (relationship.minCount, relationship.maxCount) {
        case (0, 0): return "to-many"
        case (let low, 0): return "to-many, at least \(low)"
        case (0, let high): return "to-many, at most \(high)"
        case (let low, let high): return "to-many, \(low) to \(high)"
        }
    }

    private func fetched() -> String {
        var ids: [String] = []
        let rows = properties.compactMap { property -> [String]? in
            guard case .fetched(let request) = property.kind else { return nil }
            ids.append(anchor(property))
            return [
                Markup.code(property.name), page.entityLink(request.entityName), Markup.code(request.predicate ?? ""),
                remarks(property, []),
            ]
        }
        return Markup.table(
            "Fetched properties of \(entity.name)", ["Fetched property", "Entity", "Predicate", "Remarks"], rows,
            ids: ids)
    }

    private func indexes() -> String {
        var rows = entity.fetchIndexes.map { index in
            [
                Markup.code(index.name),
                index.elements.map { element in
                    Markup.code(element.propertyName ?? element.expression ?? "")
                        + (element.isAscending ? "" : " descending")
                        + (element.isRTree ? " R-tree" : "")
                }.joined(separator: ", "), Markup.code(index.predicate ?? ""),
            ]
        }
        rows += entity.compoundIndexes.map { ["compound", $0.map(Markup.code).joined(separator: ", "), ""] }
        return Markup.table("Indexes of \(entity.name)", ["Index", "Elements", "Where"], rows)
    }
}
