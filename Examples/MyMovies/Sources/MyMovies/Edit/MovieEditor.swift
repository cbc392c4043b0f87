import LivePages

/// The fields of the editor of movies.
struct MovieEditor {
    let form: FieldForm<MovieField>
    let problems: [MovieField: String]
    let conflicts: [MovieField: String]
    /// Numbers and names.
    let friends: [(number: String, name: String)]

    private var markup: FieldMarkup<MovieField> {
        FieldMarkup(form: form, problems: problems, conflicts: conflicts, shown: shown)
    }

    var html: HTML {
        """
        \(markup.html(.title, """
            <input id=title name=title value="\(form.value(.title))" maxlength=100 required autocomplete=off\
            \(markup.described(.title))>
            """))\
        <div class=pair>\(markup.html(.year, select(.year, years)))\(markup.html(.format, select(.format, formats)))</div>\
        \(markup.html(.description, """
            <textarea id=description name=description rows=4 maxlength=2000\(markup.described(.description))>
            \(form.value(.description))</textarea>
            """))\
        <fieldset class=lending><legend class=sr>Sharing</legend>\
        \(markup.html(.shared, isSwitch: true, """
            <input id=shared type=checkbox name=shared value=1\(" checked", if: !form.value(.shared).isEmpty)>
            """))\
        <div class=pair>\(markup.html(.friend, select(.friend, friends)))\
        \(markup.html(.date, """
            <input id=date type=date name=date value="\(form.value(.date))"\(markup.described(.date))>
            """))</div></fieldset>
        """
    }

    private var years: [(String, String)] {
        stride(from: Day.year + 1, through: MovieField.firstYear, by: -1).map { (String($0), String($0)) }
    }

    private var formats: [(String, String)] { MovieField.formats.map { ($0, $0) } }

    /// A picker; what the movie has stays, though it is none of the usual ones.
    private func select(_ field: MovieField, _ choices: [(String, String)]) -> HTML {
        let value = form.value(field)
        var choices = choices
        if !value.isEmpty, field != .friend, !choices.contains(where: { $0.0 == value }) {
            choices.append((value, value))
        }
        let options = choices.map { choice -> HTML in
            "<option value=\"\(choice.0)\"\(" selected", if: choice.0 == value)>\(choice.1)</option>"
        }
        let none: HTML = field == .friend ? "No friend" : "Unknown"
        let id = field.rawValue
        return """
            <select id="\(id)" name="\(id)"\(markup.described(field))><option value="">\(none)</option>\(options)</select>
            """
    }

    private func shown(_ value: String, _ field: MovieField) -> String {
        switch field {
        case .shared: value.isEmpty ? "not shared" : "shared"
        case .friend: friends.first { $0.number == value }?.name ?? "no friend"
        case .date: Day.date(value).map(Day.text) ?? value
        default: value.isEmpty ? "nothing" : value
        }
    }
}
