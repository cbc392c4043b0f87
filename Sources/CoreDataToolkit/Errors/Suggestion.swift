/// Names that a user may have meant.
package enum Suggestion {
    /// The end of a sentence: a name that is near, else a list of all of them.
    ///
    ///     Suggestion.text(for: "quantiy", among: ["name", "quantity"])     // "; did you mean 'quantity'?"
    ///     Suggestion.text(for: "colour", among: ["name", "quantity"])      // "; there are: name, quantity."
    package static func text(for name: String, among names: [String]) -> String {
        let nearest = names.map { (name: $0, distance: distance(name.lowercased(), $0.lowercased())) }
            .min { $0.distance < $1.distance }
        if let nearest, nearest.distance <= max(1, name.count / 3) { return "; did you mean '\(nearest.name)'?" }
        return names.isEmpty ? "; there are none." : "; there are: \(names.sorted().joined(separator: ", "))."
    }

    /// How many letters to insert, delete or replace to make one of the other (Levenshtein).
    private static func distance(_ a: String, _ b: String) -> Int {
        let b = Array(b)
        var row = Array(0...b.count)
        for (i, x) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, y) in b.enumerated() {
                let substituted = diagonal + (x == y ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substituted, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[b.count]
    }
}
