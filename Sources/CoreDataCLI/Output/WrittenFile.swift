/// A file or folder that a command wrote, for programs.
struct WrittenFile: Encodable {
    var path: String
    /// Whether it was written; `false` for one that was up to date, or is kept.
    var isNew: Bool
    /// The versions in it, of a model.
    var versions: [String]?

    var json: String {
        get throws { try JSONOutput.text(self) }
    }
}
