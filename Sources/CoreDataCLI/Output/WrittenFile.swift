/// A file or folder that a command wrote, in the JSON output.
struct WrittenFile: Encodable {
    var path: String
    /// Whether it was written; `false` if it was up to date, or is kept.
    var isNew: Bool
    /// The versions of a model in the file.
    var versions: [String]?

    var json: String {
        get throws { try JSONOutput.text(self) }
    }
}
