import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The field of a predicate, with the error beside it.
struct PredicateForm: Sendable {
    let query: RowQuery
    var problem: String?

    var html: HTML {
        let invalid: HTML = problem == nil ? "" : " aria-invalid=true aria-describedby=where-problem"
        let error: HTML = problem.map { text -> HTML in "<p class=problem id=where-problem>\(text)</p>" } ?? ""
        let clear: HTML =
            query.predicate.isEmpty
            ? "" : "<a class=button href=\"\(Address("store", "rows", query.entity))\">Clear</a>"
        let sort: HTML =
            query.sort.map { sort -> HTML in
                "<input type=hidden name=sort value=\"\((query.isDescending ? "-" : "") + sort)\">"
            } ?? ""
        return """
            <form class=predicate action="\(Address("store", "rows", query.entity))">\(sort)
            <label for=where class=sr>Predicate</label>
            <div class=row><div class=search><input id=where name=where value="\(query.predicate)" data-search \
            data-complete="\(Address("store", "complete", query.entity))" class=mono autocomplete=off spellcheck=false \
            autocapitalize=none placeholder="Predicate, such as \(example)"\(invalid)></div>
            <button class=main>Apply</button>\(clear)</div>\(error)</form>
            """
    }

    private var example: String { "name CONTAINS[cd] 'a'" }
}

/// Errors of predicates as messages.
enum PredicateMessage {
    static func text(of error: any Error) -> String {
        if let failure = error as? PageFailure { return failure.message }
        return ErrorMessage.text(of: error)
    }
}
