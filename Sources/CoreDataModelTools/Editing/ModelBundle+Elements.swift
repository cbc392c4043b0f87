import CoreDataModel

/// Reads elements and settings for forms.
extension ModelBundle {
    /// Returns the element at a path; `nil` if it does not exist.
    package func element(_ path: ModelPath, in version: String) -> EditableElement? {
        guard let markup = self[version]?.markup else { return nil }
        return try? VersionEditor(markup).element(path)
    }

    /// Returns the kind of an element for ``ModelSetting``; `nil` if it has no settings.
    package func target(_ path: ModelPath, in version: String) -> ModelSetting.Target? {
        element(path, in: version).flatMap { VersionEditor.target(path, $0) }
    }

    /// Returns the type of an attribute; `nil` for other elements.
    package func type(of path: ModelPath, in version: String) -> AttributeType? {
        guard let element = element(path, in: version), element.name == "attribute" else { return nil }
        return VersionEditor.type(of: element)
    }

    /// Returns a setting in the spelling of the file; `nil` if the file does not have it.
    package func value(_ setting: ModelSetting, of path: ModelPath, in version: String) -> String? {
        guard var element = element(path, in: version) else { return nil }
        let type = element.name == "attribute" ? VersionEditor.type(of: element) : nil
        if element.name == "fetchedProperty", setting.traits.targets.contains(.fetchRequest),
            let request = element.children(named: "fetchRequest").first
        {
            element = request
        }
        if setting == .isToMany { return element["toMany"] == "YES" && element["maxCount"] != "1" ? "YES" : nil }
        if setting == .indexPredicate { return element[setting.rawValue] ?? element["predicateString"] }
        return element[setting.attribute(for: type)]
    }

    /// Returns the user info of an element, by key.
    package func userInfo(of path: ModelPath, in version: String) -> [(key: String, value: String)] {
        let entries = element(path, in: version)?.children(named: "userInfo").first?.children(named: "entry") ?? []
        return entries.map { ($0["key"] ?? "", $0["value"] ?? "") }
    }

    /// Returns the text of a version's file.
    package func text(of version: String) -> String? { self[version]?.markup?.text }
}
