import Foundation
import HTTPTypes
import Hummingbird

/// Who asks for a page, and how.
package struct Visit: Sendable {
    package let path: String
    package let query: Form
    /// The number in the path, of an item for example.
    package let number: Int
    /// The name in the path, of an editor for example.
    package let id: String
    /// What was sent; of a GET nothing.
    package internal(set) var form: Form
    /// The secret that this browser's forms carry.
    package let token: String
    /// Whether the browser does not have it yet.
    package let isNew: Bool
    /// The message that the page shows.
    package let flash: Flash?
    /// Whether the script sent the form, and patches the page by itself.
    package let isPatch: Bool
    /// The page that sent the form, and the number of the form among those of the page; `nil` without the script.
    var order: (page: String, number: Int)?

    /// Who is signed in, in an app with accounts; see ``Visitor/person``.
    package internal(set) var person: (any Sendable)?
    /// The network address of the client.
    package internal(set) var address: String?
    /// What the browser calls itself.
    package internal(set) var userAgent = ""
    /// The name under which the browser asks for the server.
    package internal(set) var host = ""
    /// The last event that the page's stream has had.
    package internal(set) var lastEvent: String?

    /// Where to go back to, out of a form's field: a path of ours.
    package func back(or other: String) -> String {
        guard let back = form["back"], back.hasPrefix("/"), !back.hasPrefix("//"), !back.contains("\\"),
            back.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), back.utf8.count < 300
        else { return other }
        return back
    }
}

/// A message for the next page.
package struct Flash: Sendable, Encodable {
    package enum Kind: String, Sendable, Encodable {
        case done, problem
    }

    package var kind = Kind.done
    package var text: String
    /// The step that Undo takes back.
    package var step: Int?
    /// Whether the step that was undone can be done again.
    package var redo = false

    package init(kind: Kind = .done, text: String, step: Int? = nil, redo: Bool = false) {
        self.kind = kind
        self.text = text
        self.step = step
        self.redo = redo
    }
}

/// What a visit is answered with.
package indirect enum Reply: Sendable {
    case page(Page, status: Int = 200)
    /// To another page, with a message.
    case redirect(String, Flash? = nil)
    case file(Data, type: String, isForever: Bool = false)
    /// Events, as long as the page is open.
    case events(AsyncStream<ByteBuffer>)
    /// A reply with headers of its own.
    case with(HTTPFields, Reply)
}
