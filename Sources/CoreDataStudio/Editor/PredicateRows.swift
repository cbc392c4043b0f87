import CoreDataModel
import CoreDataModelTools

/// The rows of a simple predicate, as in Xcode: each has a key, an operator and a value.
struct PredicateRows {
    let view: EditorView
    let path: ModelPath

    private var predicate: SimplePredicate? {
        guard let text = view.bundle.value(.predicate, of: path, in: view.version), !text.isEmpty else {
            return SimplePredicate(rows: [], matchesAny: false)
        }
        return SimplePredicate(text)
    }

    private var entity: EntityElement? {
        let name = view.bundle.value(.requestEntity, of: path, in: view.version)
        return view.document.entities.first { $0.name == name }
    }

    /// The keys of the entity and its parents.
    private var properties: [PropertyElement] {
        var found: [PropertyElement] = []
        var visited: Set<String> = []
        var next = entity
        while let current = next, visited.insert(current.name).inserted {
            found += current.properties.filter { !$0.isFetched }
            next = view.document.entities.first { $0.name == current.parentName }
        }
        return found
    }

    var html: HTML {
        guard view.isEditable else { return "" }
        guard let predicate else {
            return """
                <h2>Conditions</h2>\
                <p class=hint>The predicate has parts that rows cannot show. Edit it as text above.</p>
                """
        }
        let keys = properties.map(\.name)
        let rows = (0..<(predicate.rows.count + 2)).map { index -> HTML in
            let row = predicate.rows.indices.contains(index) ? predicate.rows[index] : nil
            var names = [""] + keys
            if let key = row?.key, !names.contains(key) { names.append(key) }
            var comparators = SimplePredicate.comparators
            if let own = row?.comparator, !comparators.contains(own) { comparators.append(own) }
            return """
                <tr><td><select name=key aria-label="Key \(index + 1)">\
                \(view.options(names.map { (value: $0, title: $0.isEmpty ? "None" : $0) }, row?.key ?? ""))</select>\
                <td><select name=comparator aria-label="Operator \(index + 1)">\
                \(view.options(comparators.map { (value: $0, title: $0) }, row?.comparator ?? "=="))</select>\
                <td><input name=value value="\(row?.value ?? "")" aria-label="Value \(index + 1)" autocomplete=off \
                spellcheck=false>
                """
        }
        let joins = [(value: "all", title: "All"), (value: "any", title: "Any")]
        return """
            <h2>Conditions</h2>\
            \(view.form("predicate-rows", class: "card", """
                \(view.select("Conditions that must hold", "join", joins, value: predicate.matchesAny ? "any" : "all"))\
                <div class=scroll><table><thead><tr><th scope=col>Key<th scope=col>Operator<th scope=col>Value</thead>\
                <tbody>\(rows)</tbody></table></div>\
                <p class=hint>A value is a constant, or $NAME for one that the program sets.</p>\
                <button class=main>Save conditions</button>
                """))
            """
    }

    /// The predicate of a form; `nil` without rows.
    func text(of form: FormFields) -> String? {
        let (comparators, values) = (form.all("comparator"), form.all("value"))
        let rows = form.all("key").enumerated().compactMap { index, key -> SimplePredicate.Row? in
            guard !key.isEmpty, comparators.indices.contains(index), values.indices.contains(index) else { return nil }
            return .init(
                key: key, comparator: comparators[index],
                value: SimplePredicate.literal(values[index], isText: isText(key)))
        }
        if rows.isEmpty { return nil }
        return SimplePredicate(rows: rows, matchesAny: form["join"] == "any").text
    }

    private func isText(_ key: String) -> Bool {
        guard case .attribute(let attribute)? = properties.first(where: { $0.name == key })?.kind else { return false }
        return attribute.type.kind == .text
    }
}
