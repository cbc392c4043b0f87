import Foundation
import LivePages

/// The fields of the item editor.
struct ItemEditor {
    let form: ItemForm
    let problems: [ItemField: String]
    let conflicts: [ItemField: String]
    /// What the pickers have: IDs and names.
    let places: [PlaceKind: [(id: String, name: String)]]

    var html: HTML { HTML.joined(ItemField.allCases.map(field)) }

    /// The values alone, for those who may not change them.
    var text: HTML {
        let rows = ItemField.allCases.map { field -> HTML in
            let value = shown(form.value(field), field)
            return "<dt>\(field.label)<dd>\(field == .listed ? (value == "on the list" ? "yes" : "no") : value)"
        }
        return "<dl>\(rows)</dl>"
    }

    private var markup: FieldMarkup<ItemField> {
        FieldMarkup(form: form.fields, problems: problems, conflicts: conflicts, shown: shown)
    }

    private func field(_ field: ItemField) -> HTML {
        let input: HTML
        switch field {
        case .name:
            input = """
                <input id=name name=name value="\(form.value(.name))" maxlength=100 required autocomplete=off\(markup.described(.name))>
                """
        case .quantity:
            input = """
                <input id=quantity name=quantity value="\(form.value(.quantity))" inputmode=decimal maxlength=12 \
                autocomplete=off\(markup.described(.quantity))>
                """
        case .listed:
            input = "<input id=listed type=checkbox name=listed value=1\(" checked", if: !form.value(.listed).isEmpty)>"
        case .unit, .home, .shop: input = picker(field)
        }
        return markup.html(field, isSwitch: field == .listed, input)
    }

    private func picker(_ field: ItemField) -> HTML {
        guard let kind = field.kind else { return "" }
        let value = form.value(field)
        let options = (places[kind] ?? []).map { place -> HTML in
            "<option value=\"\(place.id)\"\(" selected", if: place.id == value)>\(place.name)</option>"
        }
        let id = field.rawValue
        return """
            <span class=pick><select id="\(id)" name="\(id)"\(markup.described(field))><option value="">None</option>\(options)\
            <option value=new\(" selected", if: value == ItemForm.new)>New…</option></select>\
            <input name="new-\(id)" aria-label="New \(kind.noun)" placeholder="New \(kind.noun)" maxlength=100 \
            value="\(form.newNames[kind] ?? "")" autocomplete=off\(value == ItemForm.new ? markup.described(field) : "")></span>
            """
    }

    private func shown(_ value: String, _ field: ItemField) -> String {
        if field == .listed { return value.isEmpty ? "off the list" : "on the list" }
        guard let kind = field.kind else { return value }
        if value.isEmpty { return "None" }
        if value == ItemForm.new { return form.newNames[kind] ?? "" }
        return places[kind]?.first { $0.id == value }?.name ?? "None"
    }
}
