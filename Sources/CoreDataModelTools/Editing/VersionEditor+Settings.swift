import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives

/// Sets settings, with the consequences that they have for others.
extension VersionEditor {
    mutating func set(_ path: ModelPath, _ setting: ModelSetting, _ value: String?) throws(ModelFailure) {
        let element = try element(path)
        let type = element.name == "attribute" ? Self.type(of: element) : nil
        guard let target = Self.target(path, element), setting.traits.targets.contains(target) else {
            throw failure("\(path.text) has no setting '\(setting.traits.title)'", path)
        }
        // A setting without meaning can be removed, but not set.
        if value != nil, !setting.isMeaningful(for: type) {
            throw failure(
                "an attribute of type \(type?.displayName ?? "") has no setting '\(setting.traits.title)'", path,
                hint: "change the type first")
        }
        let checked = try value.map { value throws(ModelFailure) in try check(value, setting, type, path) }
        switch setting {
        case .attributeType: try setType(path, checked)
        case .destination where checked != element[setting.rawValue]: try setDestination(path, checked)
        case .isToMany: try setToMany(path, checked == "YES")
        case .maximumCount:
            if element["toMany"] != "YES" {
                throw failure("\(path.text) is to-one, with a maximum of 1", path, hint: "make it To Many first")
            }
            try write(path, setting, checked, type)
        case .derivation:
            try write(path, setting, checked, type)
            try change(path) {
                $0.set("derived", to: checked == nil ? nil : "YES", order: ContentsWriter.attributeOrder)
            }
        case .parent: try setParent(path, checked)
        default: try write(path, setting, checked, type)
        }
    }

    static func type(of attribute: EditableElement) -> AttributeType {
        attribute["attributeType"].flatMap(AttributeType.init(fileName:)) ?? .undefined
    }

    static func target(_ path: ModelPath, _ element: EditableElement) -> ModelSetting.Target? {
        switch path {
        case .model: .model
        case .entity: .entity
        case .fetchIndex: .fetchIndex
        case .fetchRequest: .fetchRequest
        case .configuration: .configuration
        case .compositeElement: .compositeElement
        case .composite: nil
        case .property:
            switch element.name {
            case "attribute": .attribute
            case "relationship": .relationship
            default: .fetchedProperty
            }
        }
    }

    // MARK: Values

    /// Returns the value in the spelling of the file; throws if the setting cannot have it.
    private func check(
        _ value: String, _ setting: ModelSetting, _ type: AttributeType?, _ path: ModelPath
    ) throws(ModelFailure) -> String {
        let title = setting.traits.title
        func refuse(_ reason: String, hint: String) -> ModelFailure {
            failure("\(title) of \(path.text) cannot be '\(value)': \(reason)", path, hint: hint)
        }
        switch setting.traits.form {
        case .flag, .optionalFlag:
            guard value == "YES" || value == "NO" else { throw refuse("it is no flag", hint: "use YES or NO") }
        case .count:
            guard let count = Int(value), count >= 0, String(count) == value else {
                throw refuse("it is no whole number from 0", hint: "write digits only")
            }
        case .choice(let choices):
            guard choices.contains(where: { $0.value == value }) else {
                throw refuse("it is no choice", hint: "use " + choices.compactMap(\.value).joined(separator: ", "))
            }
        case .entity: try checkEntity(value)
        case .composite: _ = try element(.composite(value))
        case .predicate:
            do {
                _ = try PredicateParser.parse(format: value)
            } catch {
                var problem = error.diagnostic
                problem.subject = path.subject
                problem.rule = LintRule.badPredicate.rawValue
                throw ModelFailure(diagnostics: [problem])
            }
        case .value: return try spelled(value, type ?? .undefined) { refuse("it is no \($0)", hint: $1) }
        case .bound: return try bound(value, type ?? .undefined) { refuse("it is no \($0)", hint: $1) }
        case .pattern:
            let predicate = "SELF MATCHES " + PredicateText.quoted(value)
            do throws(ModelTextProblem) {
                _ = try ModelTextChecker().accepts(.string(""), predicate: predicate)
            } catch {
                throw refuse(error.message, hint: "write a regular expression")
            }
        case .text: break
        }
        return value
    }

    /// Returns a default in Xcode's spelling.
    private func spelled(
        _ value: String, _ type: AttributeType, refuse: (String, String) -> ModelFailure
    ) throws(ModelFailure) -> String {
        guard let typed = DefaultValue.value(value, type: type), !typed.isNull else {
            if type.kind == .text { return value }
            let hint = type == .date ? "write a date: 2026-11-29 or 2026-11-29 08:30:00" : "write a value of the type"
            throw refuse("value of type \(type.displayName)", hint)
        }
        switch type.kind {
        case .boolean, .date, .identifier: return DefaultValue.text(of: typed, type: type) ?? value
        // Numbers stay as they were typed: 1, 1.0 and 1e3 differ in no store.
        case .integer, .real, .single, .decimal:
            return value.trimmingCharacters(in: .whitespaces)
        default: return value
        }
    }

    private func bound(
        _ value: String, _ type: AttributeType, refuse: (String, String) -> ModelFailure
    ) throws(ModelFailure) -> String {
        if type == .date { return try spelled(value, type, refuse: refuse) }
        let text = value.trimmingCharacters(in: .whitespaces)
        if type.kind == .text {
            guard let length = Int(text), length >= 0 else { throw refuse("length", "write a whole number from 0") }
            return text
        }
        guard let number = Double(text), number.isFinite, !text.lowercased().contains("x") else {
            throw refuse("number", "write a number: 1 or 0.5")
        }
        return text
    }

    /// Writes a value to the element, as Xcode does: an attribute with its default is left out.
    private mutating func write(
        _ path: ModelPath, _ setting: ModelSetting, _ value: String?, _ type: AttributeType?
    ) throws(ModelFailure) {
        let attribute = setting.attribute(for: type)
        let style = style
        try change(path) { element throws(ModelFailure) in
            if element.name == "fetchedProperty", ModelSetting.settings(of: .fetchRequest).contains(setting) {
                if element.places(named: "fetchRequest").isEmpty {
                    let request = EditableElement("fetchRequest", [("name", "fetchedPropertyFetchRequest")])
                    element.insert(request, before: element.places().first, depth: 3, style: style)
                }
                guard let place = element.places(named: "fetchRequest").first else { return }
                _ = element.update(at: place) { $0.write(setting, attribute, value) }
            } else {
                element.write(setting, attribute, value)
            }
        }
    }

    // MARK: Consequences

    /// Changes the type, removes settings without a meaning for it, and adds those that Xcode gives to new attributes.
    private mutating func setType(_ path: ModelPath, _ name: String?) throws(ModelFailure) {
        let type = name.flatMap(AttributeType.init(fileName:)) ?? .undefined
        let old = Self.type(of: try element(path))
        if type == old { return }
        try change(path) { element throws(ModelFailure) in
            let order = ContentsWriter.attributeOrder
            let former = element[ModelSetting.defaultValue.attribute(for: old)]
            for setting in ModelSetting.settings(of: .attribute)
            where !setting.isMeaningful(for: type) || setting.attribute(for: old) != setting.attribute(for: type) {
                element.set(setting.attribute(for: old), to: nil, order: order)
            }
            if !ModelSetting.derivation.isMeaningful(for: type) { element.set("derived", to: nil, order: order) }
            element.set("attributeType", to: type.fileName, order: order)
            let fits = former.map { DefaultValue.value($0, type: type).map { !$0.isNull } ?? false } ?? false
            let attribute = ModelSetting.defaultValue.attribute(for: type)
            if ModelSetting.defaultValue.isMeaningful(for: type) {
                element.set(attribute, to: fits ? former : Self.newDefault(type), order: order)
            }
            if type.kind != old.kind {
                for bound in [ModelSetting.minimum, .maximum] where !(type.kind.isQuantity && old.kind.isQuantity) {
                    element.set(bound.attribute(for: type), to: nil, order: order)
                }
            }
            if ModelSetting.usesScalar.isMeaningful(for: type) {
                element.set("usesScalarValueType", to: type.kind == .date ? "NO" : "YES", order: order)
            } else if type.kind == .identifier {
                element.set("usesScalarValueType", to: "NO", order: order)
            }
        }
    }

    /// The default that Xcode gives to a number.
    private static func newDefault(_ type: AttributeType) -> String? {
        switch type.kind {
        case .integer: "0"
        case .real, .single, .decimal: "0.0"
        default: nil
        }
    }

    private mutating func setToMany(_ path: ModelPath, _ isToMany: Bool) throws(ModelFailure) {
        try change(path) { element throws(ModelFailure) in
            let order = ContentsWriter.relationshipOrder
            if (element["toMany"] == "YES" && element["maxCount"] != "1") == isToMany { return }
            element.set("toMany", to: isToMany ? "YES" : nil, order: order)
            element.set("maxCount", to: isToMany ? nil : "1", order: order)
            if !isToMany { element.set("ordered", to: nil, order: order) }
            if let count = element["minCount"].flatMap(Int.init), !isToMany, count > 1 {
                element.set("minCount", to: "1", order: order)
            }
        }
    }

    private mutating func setParent(_ path: ModelPath, _ parent: String?) throws(ModelFailure) {
        if let parent, family(of: path.name).contains(parent) {
            throw failure(
                "'\(parent)' cannot be the parent of \(path.text): it inherits from it", path,
                hint: "choose another entity")
        }
        try write(path, .parent, parent, nil)
    }
}

extension EditableElement {
    /// Writes a setting; a value that the element has by default is left out, if it was not spelled out before.
    fileprivate mutating func write(_ setting: ModelSetting, _ attribute: String, _ value: String?) {
        let order = VersionEditor.order(of: name)
        switch setting.traits.form {
        case .flag(let standard):
            let isOn = value.map { $0 == "YES" } ?? standard
            let now = self[attribute].map { ["yes", "true", "1"].contains($0.lowercased()) } ?? standard
            if isOn != now { set(attribute, to: isOn == standard ? nil : isOn ? "YES" : "NO", order: order) }
        case .count(let standard):
            let count = value.flatMap(Int.init) ?? standard
            let now = self[attribute].flatMap(Int.init) ?? standard
            if count != now { set(attribute, to: count == standard ? nil : String(count), order: order) }
        default: set(attribute, to: value, order: order)
        }
    }
}
