import CoreDataModel
import CoreDataModelTools
import CoreDataPrimitives
import Foundation

/// The inspector of an element: a field for each setting.
struct SettingsForm {
    let view: EditorView
    let path: ModelPath
    private let type: AttributeType?
    private let settings: [ModelSetting]

    init(_ view: EditorView, _ path: ModelPath) {
        self.view = view
        self.path = path
        let target = view.bundle.target(path, in: view.version)
        let type = view.bundle.type(of: path, in: view.version)
        self.type = type
        settings = target.map { ModelSetting.settings(of: $0, type: type) } ?? []
    }

    /// The settings that most elements use; the others are folded.
    private static let advanced: Set<ModelSetting> = [
        .hashModifier, .renamingIdentifier, .isSynchronized, .isIndexed, .isIndexedBySpotlight, .isStoredInTruthFile,
        .spotlightDisplayName, .customClass, .allowsCloudEncryption, .preservesAfterDeletion, .derivation,
        .includesSubentities, .includesPropertyValues, .includesPendingChanges, .returnsObjectsAsFaults,
        .returnsDistinctResults,
    ]

    var html: HTML {
        if settings.isEmpty { return "" }
        let isToMany = view.bundle.value(.isToMany, of: path, in: view.version) != nil
        let shown = settings.filter { $0 != .isOrdered && $0 != .maximumCount || isToMany }
        let main = shown.filter { !Self.advanced.contains($0) }.map(field)
        let rest = shown.filter { Self.advanced.contains($0) }
        let isOpen: HTML =
            rest.contains { $0 != .isSynchronized && value($0) != nil || $0.rawValue == view.refusal?.field }
            ? " open" : ""
        let more: HTML =
            rest.isEmpty
            ? ""
            : """
            <details\(isOpen)><summary>More settings</summary><div class=settings>\(rest.map(field))</div></details>
            """
        let fields = shown.map { setting -> HTML in "<input type=hidden name=field value=\"\(setting.rawValue)\">" }
        let body: HTML = "<div class=settings>\(main)</div>\(more)"
        guard view.isEditable else {
            return "<fieldset disabled class=card><legend class=sr>Settings</legend>\(body)</fieldset>"
        }
        return view.form("set", class: "card", "\(fields)\(body)<button class=main data-key=save>Save</button>")
    }

    private func value(_ setting: ModelSetting) -> String? {
        SettingText.shown(view.bundle.value(setting, of: path, in: view.version), setting, type)
    }

    private func field(_ setting: ModelSetting) -> HTML {
        let name = "s." + setting.rawValue
        let id = "set-\(setting.rawValue)"
        let traits = setting.traits
        let refused = view.refusal.flatMap { $0.form["do"] == "set" ? $0.form : nil }
        let text = refused.map { $0[name] ?? "" } ?? value(setting) ?? ""
        let isWrong = view.refusal?.field == setting.rawValue
        let marks: HTML =
            isWrong
            ? " aria-invalid=true aria-describedby=\"\(id)-problem \(id)-hint\"" : " aria-describedby=\"\(id)-hint\""
        let hint: HTML = "<small id=\"\(id)-hint\">\(traits.hint)</small>"
        let problem: HTML? = isWrong ? view.refusal.map { self.problem($0, id, text) } : nil
        if case .flag(let standard) = traits.form {
            let isOn = refused.map { $0[name] != nil } ?? (value(setting).map(SettingText.isOn) ?? standard)
            let check: HTML = isOn ? " checked" : ""
            return """
                <div class=field><div class=check>\
                <input type=checkbox id="\(id)" name="\(name)" value=YES\(check)\(marks)>\
                <label for="\(id)">\(traits.title)</label></div>\(hint)\(problem)</div>
                """
        }
        let control: HTML
        switch traits.form {
        case .flag, .text, .count, .value, .bound, .pattern:
            let mode: HTML = if case .count = traits.form { " inputmode=numeric" } else { "" }
            control = """
                <input id="\(id)" name="\(name)" value="\(text)" autocomplete=off spellcheck=false\(mode)\(marks)>\
                \(emptyChoice(setting, refused))
                """
        case .predicate:
            control = predicate(id, name, text, marks)
        case .optionalFlag:
            control = select(id, name, [("", "Not set"), ("YES", "Yes"), ("NO", "No")], text, marks)
        case .choice(let choices):
            var all = choices.map { ($0.value ?? "", $0.title) }
            // A value that this editor does not know is kept.
            if !all.contains(where: { $0.0 == text }) { all.insert((text, text.isEmpty ? "Not set" : text), at: 0) }
            control = select(id, name, all, text, marks)
        case .entity:
            control = select(id, name, named(view.entityNames, text), text, marks)
        case .composite:
            control = select(id, name, named(view.document.composites.map(\.name), text), text, marks)
        }
        return "<div class=field><label for=\"\(id)\">\(traits.title)</label>\(control)\(hint)\(problem)</div>"
    }

    private func problem(_ refusal: EditorView.Refusal, _ id: String, _ text: String) -> HTML {
        "<p class=problem id=\"\(id)-problem\">\(refusal.notice)\(mark(refusal, text))</p>"
    }

    private func named(_ names: [String], _ value: String) -> [(String, String)] {
        let known = value.isEmpty || names.contains(value)
        return [("", "None")] + (known ? [] : [(value, "\(value) (missing)")]) + names.map { ($0, $0) }
    }

    private func select(
        _ id: String, _ name: String, _ choices: [(String, String)], _ value: String, _ marks: HTML
    ) -> HTML {
        let options = view.options(choices.map { (value: $0.0, title: $0.1) }, value)
        return "<select id=\"\(id)\" name=\"\(name)\"\(marks)>\(options)</select>"
    }

    /// A field with completion; a text of several lines has a field without it.
    private func predicate(_ id: String, _ name: String, _ text: String, _ marks: HTML) -> HTML {
        if text.contains("\n") {
            return """
                <textarea id="\(id)" name="\(name)" rows=4 spellcheck=false class=mono\(marks)>\
                \(text)</textarea>
                """
        }
        let entity: String? =
            if case .fetchIndex(let entity, _) = path {
                entity
            } else {
                view.bundle.value(.requestEntity, of: path, in: view.version)
            }
        let complete = entity.map { entity -> HTML in
            " data-complete=\"\(Address("model", "complete", view.version, entity))\""
        }
        return """
            <div class=search><input id="\(id)" name="\(name)" value="\(text)" class=mono autocomplete=off \
            spellcheck=false\(complete)\(marks)></div>
            """
    }

    /// The default of a text can be empty, which differs from no default.
    private func emptyChoice(_ setting: ModelSetting, _ refused: FormFields?) -> HTML {
        guard setting == .defaultValue, type == .string else { return "" }
        let isEmpty = refused.map { $0["empty"] != nil } ?? (value(setting) == "")
        let check: HTML = isEmpty ? " checked" : ""
        return """
            <span class=check><input type=checkbox id=set-empty name=empty value=YES\(check)>\
            <label for=set-empty>Empty text</label></span>
            """
    }

    /// The place of a mistake in a predicate: `pages > > 1` with a mark under the second sign.
    private func mark(_ refusal: EditorView.Refusal, _ text: String) -> HTML {
        guard let column = refusal.column, !text.contains("\n"), text.count < 500 else { return "" }
        let caret = String(repeating: " ", count: max(0, column - 1)) + "^"
        return "\n<code>\(text)\n\(caret)</code>"
    }
}

/// Values of settings as forms show them.
enum SettingText {
    /// Returns a value for a form: dates as text instead of seconds since 2001.
    static func shown(_ value: String?, _ setting: ModelSetting, _ type: AttributeType?) -> String? {
        guard let value, type == .date, [.defaultValue, .minimum, .maximum].contains(setting),
            let seconds = Double(value), seconds.rounded() == seconds, seconds.magnitude < 1e11
        else { return value }
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: .gmt).year().month().day()
            .dateTimeSeparator(.space)
        if seconds.truncatingRemainder(dividingBy: 86400) == 0 { return date.formatted(style) }
        return date.formatted(style.time(includingFractionalSeconds: false))
    }

    static func isOn(_ value: String) -> Bool { ["yes", "true", "1"].contains(value.lowercased()) }

    /// Returns the edits of a form with fields `s.…`: only of settings that differ from the shown ones.
    static func edits(
        _ form: FormFields, _ path: ModelPath, in bundle: ModelBundle, _ version: String
    ) -> [(setting: ModelSetting, edit: ModelEdit)] {
        let type = bundle.type(of: path, in: version)
        let settings = form.all("field").compactMap(ModelSetting.init(rawValue:))
        return settings.compactMap { setting in
            let now = bundle.value(setting, of: path, in: version)
            let typed = form["s." + setting.rawValue]
            var new: String?
            switch setting.traits.form {
            case .flag(let standard):
                if (typed != nil) == (now.map(isOn) ?? standard) { return nil }
                new = typed == nil ? "NO" : "YES"
            case .text where setting == .versionIdentifier:
                new = typed == "" && now == nil ? nil : typed
            case .value where type == .string && typed == "" && form["empty"] != nil: new = ""
            default: new = typed.flatMap { $0.isEmpty ? nil : $0.replacing("\r\n", with: "\n") }
            }
            if new == now || new == shown(now, setting, type) { return nil }
            return (setting, .set(path, setting, new))
        }
    }
}
