/// Finds forms that arrive after a newer one of the same page for the same row.
///
/// A page sends each tap on a row at once, with the wanted state, "on" or "off". Two requests may arrive in either order, since
/// each has its own connection: the script numbers the forms of a page, and the server ignores a form with a lower number than
/// the last one that it performed for the row.
@MainActor final class FormOrder {
    private struct Row: Hashable {
        /// The browser's, so that no browser affects another.
        let token: String
        let page: String
        let path: String
        let row: String
    }

    private static let most = 1000

    private var latest: [Row: Int] = [:]
    /// The oldest first.
    private var order: [Row] = []

    /// Whether a newer form for the same row was performed; remembers this one otherwise.
    func isOutdated(_ visit: Visit) -> Bool {
        guard let (page, number) = visit.order, let row = visit.form["on"] ?? visit.form["off"] else { return false }
        let key = Row(token: visit.token, page: page, path: visit.path, row: row)
        if let last = latest[key] {
            guard number >= last else { return true }
        } else {
            if order.count >= Self.most { latest[order.removeFirst()] = nil }
            order.append(key)
        }
        latest[key] = number
        return false
    }
}
