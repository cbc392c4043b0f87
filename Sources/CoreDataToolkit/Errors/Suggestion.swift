/// Suggests the names that a user may have meant.
package enum Suggestion {
    /// Returns the end of a sentence: a similar name, or a list of all names.
    ///
    ///     Suggestion.text(for: "quantiy", among: ["name", "quantity"])     // "; did you mean 'quantity'?"
    ///     Suggestion.text(for: "colour", among: ["name", "quantity"])      // "; there are: name, quantity."
    package static func text(for name: String, among names: [String]) -> String {
        if let nearest = nearest(to: name, among: names) { return "; did you mean '\(nearest)'?" }
        return names.isEmpty ? "; there are none." : "; there are: \(names.sorted().joined(separator: ", "))."
    }

    /// Returns the most similar name, if it is similar enough: one letter in three may differ.
    package static func nearest(to name: String, among names: [String]) -> String? {
        let nearest = names.map { (name: $0, distance: distance(name.lowercased(), $0.lowercased())) }
            .min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= max(1, name.count / 3) else { return nil }
        return nearest.name
    }

    /// Returns the number of letters to insert, delete, replace, or exchange with their neighbours, to convert one text
    /// to the other (optimal string alignment).
    private static func distance(_ a: String, _ b: String) -> Int {
        let (a, b) = (Array(a), Array(b))
        // The rows for prefixes that are shorter by two and by one; the latter is filled for the next letter.
        var before: [Int] = []
        var row = Array(0...b.count)
        for i in a.indices {
            var next = [i + 1]
            for j in b.indices {
                var cost = min(row[j] + (a[i] == b[j] ? 0 : 1), next[j] + 1, row[j + 1] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, before[j - 1] + 1) }
                next.append(cost)
            }
            before = row
            row = next
        }
        return row[b.count]
    }
}
