/// What stands around the inputs of an editor: labels, problems, what others wrote.
package struct FieldMarkup<Field: FormField> {
    package let form: FieldForm<Field>
    package let problems: [Field: String]
    package let conflicts: [Field: String]
    /// A value as people read it.
    package let shown: (String, Field) -> String

    package init(
        form: FieldForm<Field>, problems: [Field: String], conflicts: [Field: String],
        shown: @escaping (String, Field) -> String
    ) {
        self.form = form
        self.problems = problems
        self.conflicts = conflicts
        self.shown = shown
    }

    /// A field with its label.
    package func html(_ field: Field, isSwitch: Bool = false, _ input: HTML) -> HTML {
        let kind: HTML = isSwitch ? "field check" : "field"
        return """
            <div class="\(kind)"><label for="\(field.rawValue)">\(field.label)</label>\(original(field))\(input)\
            \(problem(field))\(conflict(field))</div>

            """
    }

    /// Attributes of the input that lead to what is wrong with it.
    package func described(_ field: Field) -> HTML {
        problems[field] == nil ? "" : " aria-invalid=true aria-describedby=\"\(field.rawValue)-problem\""
    }

    /// The value that the editor was opened with: what the server compares with.
    private func original(_ field: Field) -> HTML {
        guard let value = form.original[field] else { return "" }
        return "<input type=hidden name=\"was-\(field.rawValue)\" value=\"\(value)\">"
    }

    private func problem(_ field: Field) -> HTML {
        guard let problem = problems[field] else { return "" }
        return "<p class=problem id=\"\(field.rawValue)-problem\">\(problem)</p>"
    }

    private func conflict(_ field: Field) -> HTML {
        guard let theirs = conflicts[field] else { return "" }
        return """
            <p class=conflict><span>Theirs: <q>\(shown(theirs, field))</q></span> \
            <span>Yours: <q>\(shown(form.value(field), field))</q></span> \
            <button name=take value="\(field.rawValue)" formnovalidate>Take theirs</button></p>
            """
    }

    /// The notice above an editor whose object another user changed meanwhile.
    package static var notice: HTML {
        """
        <div class="notice problem" role=alert><p>Another user changed this meanwhile. Your values are chosen \
        below: save to keep them, or take theirs.</p></div>
        """
    }
}
