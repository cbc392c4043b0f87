import Foundation

/// Who asks for a page, and how.
struct Visit: Sendable {
    let path: String
    let query: Form
    /// The number in the path, of an item for example.
    let number: Int
    /// What was sent; of a GET nothing.
    let form: Form
    /// The secret that this browser's forms carry.
    let token: String
    /// Whether the browser does not have it yet.
    let isNew: Bool
    /// The message that the page shows.
    let flash: Flash?
    /// Whether the script sent the form, and patches the page by itself.
    let isPatch: Bool

    /// Where to go back to, out of a form's field: a path of ours.
    func back(or other: String) -> String {
        guard let back = form["back"], back.hasPrefix("/"), !back.hasPrefix("//"), !back.contains("\\"),
            back.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), back.utf8.count < 300
        else { return other }
        return back
    }
}

/// A message for the next page.
struct Flash: Sendable, Encodable {
    enum Kind: String, Sendable, Encodable {
        case done, problem
    }

    var kind = Kind.done
    var text: String
    /// The step that Undo takes back.
    var step: Int?
    /// Whether the step that was undone can be done again.
    var redo = false
}

/// What a visit is answered with.
enum Reply {
    case page(Page, status: Int = 200)
    /// To another page, with a message.
    case redirect(String, Flash? = nil)
    case file(Data, type: String, isForever: Bool = false)
}
