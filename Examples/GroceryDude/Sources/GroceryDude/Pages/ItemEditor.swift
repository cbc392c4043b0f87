import Foundation

/// The fields of the item editor.
struct ItemEditor {
    let form: ItemForm
    let problems: [ItemField: String]
    let conflicts: [ItemField: String]
    /// What the pickers have: numbers and names.
    let places: [PlaceKind: [(number: String, name: String)]]

    var html: HTML { HTML.joined(ItemField.allCases.map(field)) }

    private func field(_ field: ItemField) -> HTML {
        let input: HTML
        switch field {
        case .name:
            input = """
                <input id=name name=name value="\(form.value(.name))" maxlength=100 required autocomplete=off\(described(.name))>
                """
        case .quantity:
            input = """
                <input id=quantity name=quantity value="\(form.value(.quantity))" inputmode=decimal maxlength=12 \
                autocomplete=off\(described(.quantity))>
                """
        case .listed:
            input = "<input id=listed type=checkbox name=listed value=1\(" checked", if: !form.value(.listed).isEmpty)>"
        case .unit, .home, .shop: input = picker(field)
        }
        let kind: HTML = field == .listed ? "field check" : "field"
        return """
            <div class="\(kind)"><label for="\(field.rawValue)">\(field.label)</label>\(original(field))\(input)\
            \(problem(field))\(conflict(field))</div>

            """
    }

    /// The value that the editor was opened with: what the server compares with.
    private func original(_ field: ItemField) -> HTML {
        guard let value = form.original[field] else { return "" }
        return "<input type=hidden name=\"was-\(field.rawValue)\" value=\"\(value)\">"
    }

    private func picker(_ field: ItemField) -> HTML {
        guard let kind = field.kind else { return "" }
        let value = form.value(field)
        let options = (places[kind] ?? []).map { place -> HTML in
            "<option value=\"\(place.number)\"\(" selected", if: place.number == value)>\(place.name)</option>"
        }
        let id = field.rawValue
        return """
            <span class=pick><select id="\(id)" name="\(id)"\(described(field))><option value="">None</option>\(options)\
            <option value=new\(" selected", if: value == ItemForm.new)>New…</option></select>\
            <input name="new-\(id)" aria-label="New \(kind.noun)" placeholder="New \(kind.noun)" maxlength=100 \
            value="\(form.newNames[kind] ?? "")" autocomplete=off></span>
            """
    }

    private func described(_ field: ItemField) -> HTML {
        problems[field] == nil ? "" : " aria-invalid=true aria-describedby=\"\(field.rawValue)-problem\""
    }

    private func problem(_ field: ItemField) -> HTML {
        guard let problem = problems[field] else { return "" }
        return "<p class=problem id=\"\(field.rawValue)-problem\">\(problem)</p>"
    }

    private func conflict(_ field: ItemField) -> HTML {
        guard let theirs = conflicts[field] else { return "" }
        return """
            <p class=conflict><span>Theirs: <q>\(shown(theirs, field))</q></span> \
            <span>Yours: <q>\(shown(form.value(field), field))</q></span> \
            <button name=take value="\(field.rawValue)" formnovalidate>Take theirs</button></p>
            """
    }

    private func shown(_ value: String, _ field: ItemField) -> String {
        if field == .listed { return value.isEmpty ? "off the list" : "on the list" }
        guard let kind = field.kind else { return value }
        if value.isEmpty { return "None" }
        if value == ItemForm.new { return form.newNames[kind] ?? "" }
        return places[kind]?.first { $0.number == value }?.name ?? "None"
    }
}
