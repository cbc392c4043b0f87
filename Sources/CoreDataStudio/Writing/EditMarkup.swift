/// The fields of an ``EditForm``.
struct EditMarkup: Sendable {
    let form: EditForm

    var html: HTML {
        let problems = form.problems.map { text -> HTML in
            "<p class=\"notice bad lines\" role=alert>\(text)</p>"
        }
        return "\(problems)\(form.fields.map(Self.field))"
    }

    private static func field(_ field: EditForm.Field) -> HTML {
        let id = "value-\(field.name)"
        let invalid: HTML = field.problem == nil ? "" : " aria-invalid=true aria-describedby=\"problem-\(field.name)\""
        let problem: HTML =
            field.problem.map { text -> HTML in
                "<p class=problem id=\"problem-\(field.name)\">\(text)</p>"
            } ?? ""
        let conflict: HTML =
            field.conflict.map { text -> HTML in
                """
                <p class="notice bad">Another process has changed this to <q class=lines>\(text)</q>. Save again to write \
                your value over it, or type that one.</p>
                """
            } ?? ""
        let hint: HTML = field.hint.isEmpty ? "" : " · \(field.hint)"
        // After a conflict the user decides about the store's present value.
        let was: HTML =
            field.original.map { text -> HTML in "<input type=hidden name=\"was-\(field.name)\" value=\"\(text)\">" }
            ?? "<input type=hidden name=\"was-nil-\(field.name)\" value=1>"
        return """
            <div class=field><label for="\(id)">\(field.name) <small>\(field.type)\(hint)</small></label>\(was)
            \(input(field, id, invalid))\(nilBox(field))\(problem)\(conflict)</div>

            """
    }

    private static func input(_ field: EditForm.Field, _ id: String, _ invalid: HTML) -> HTML {
        let value = field.value ?? ""
        switch field.input {
        case .line: return "<input id=\"\(id)\" name=\"\(id)\" value=\"\(value)\" autocomplete=off\(invalid)>"
        case .text: return "<textarea id=\"\(id)\" name=\"\(id)\" rows=6\(invalid)>\n\(value)</textarea>"
        case .references:
            return "<textarea id=\"\(id)\" name=\"\(id)\" class=mono rows=3\(invalid)>\n\(value)</textarea>"
        case .choice:
            let options = ["", "true", "false"].map { option -> HTML in
                let selected: HTML = option == value ? " selected" : ""
                return "<option value=\"\(option)\"\(selected)>\(option.isEmpty ? "nil" : option)</option>"
            }
            return "<select id=\"\(id)\" name=\"\(id)\"\(invalid)>\(options)</select>"
        case .bytes(let count):
            return """
                <input id="\(id)" name="\(id)" value="\(field.value == nil ? "nil" : SizeText.text(count))" readonly>
                """
        }
    }

    private static func nilBox(_ field: EditForm.Field) -> HTML {
        let isBytes = if case .bytes = field.input { true } else { false }
        guard field.isOptional, field.type == "String" || isBytes && field.original != nil else { return "" }
        let checked: HTML = field.value == nil ? " checked" : ""
        return """
            <label class=check><input type=checkbox name="nil-\(field.name)" value=1\(checked)> nil\
            <span class=sr> for \(field.name)</span></label>
            """
    }
}
