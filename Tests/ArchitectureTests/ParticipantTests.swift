import Testing

/// What takes part in a transaction is called through `SaveParticipant`: whoever writes rows knows none of them by name.
@Suite struct ParticipantTests {
    @Test(arguments: [
        "Saving/", "Batches/", "Engine/KeyAllocation", "Engine/SaveParticipant", "Engine/StoreEngine+Saving",
        "Engine/StoreEngine+Writing",
    ])
    func writersKnowNoParticipant(place: String) throws {
        let sources = try Repository.sources(of: "CoreDataStore")
            .filter { $0.path.hasPrefix("Sources/CoreDataStore/\(place)") }
        #expect(!sources.isEmpty)
        for (path, text) in sources {
            for line in text.lines(mentioning: ["Search", "HistoryWriter", "HistoryTables", "HistoryParticip"]) {
                Issue.record("\(path):\(line): call it through SaveParticipant")
            }
        }
    }
}
