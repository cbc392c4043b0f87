// Publishers that Apple's Combine has and OpenCombine lacks: what merges the elements of several.
//
// Each merge is one of a list: the publishers are subscribed to in their order, elements go through as they come, and
// the merge ends with the last of them or with the first failure. Demand is that of a flat map without limit.
#if OpenCombine
    import OpenCombine

    extension Publishers {
        /// Publishes the elements of several publishers of one type, as they come.
        public struct MergeMany<Upstream: Publisher>: Publisher {
            public typealias Output = Upstream.Output
            public typealias Failure = Upstream.Failure

            /// The publishers that are merged.
            public let publishers: [Upstream]

            /// Merges the publishers.
            public init(_ upstream: Upstream...) { publishers = upstream }

            /// Merges the publishers of a sequence.
            public init<S: Swift.Sequence>(_ upstream: S) where S.Element == Upstream { publishers = Array(upstream) }

            public func receive<S: Subscriber>(subscriber: S) where S.Failure == Failure, S.Input == Output {
                Publishers.Sequence<[Upstream], Failure>(sequence: publishers).flatMap { $0 }
                    .receive(subscriber: subscriber)
            }

            /// Merges one publisher more.
            public func merge(with other: Upstream) -> MergeMany<Upstream> { MergeMany(publishers + [other]) }
        }

        /// Publishes the elements of two publishers, as they come.
        public struct Merge<A: Publisher, B: Publisher>: Publisher
        where A.Failure == B.Failure, A.Output == B.Output {
            public typealias Output = A.Output
            public typealias Failure = A.Failure

            public let a: A
            public let b: B

            /// Merges the publishers.
            public init(_ a: A, _ b: B) {
                (self.a, self.b) = (a, b)
            }

            public func receive<S: Subscriber>(subscriber: S) where S.Failure == Failure, S.Input == Output {
                MergeMany([a.eraseToAnyPublisher(), b.eraseToAnyPublisher()])
                    .receive(subscriber: subscriber)
            }

            /// Merges one publisher more.
            public func merge<Z: Publisher>(with other: Z) -> Merge3<A, B, Z>
            where Z.Failure == Failure, Z.Output == Output {
                Merge3(a, b, other)
            }

            /// Merges 2 publishers more.
            public func merge<Z: Publisher, Y: Publisher>(with z: Z, _ y: Y) -> Merge4<A, B, Z, Y>
            where Z.Failure == Failure, Z.Output == Output, Y.Failure == Failure, Y.Output == Output {
                Merge4(a, b, z, y)
            }

            /// Merges 3 publishers more.
            public func merge<Z: Publisher, Y: Publisher, X: Publisher>(
                with z: Z, _ y: Y, _ x: X
            ) -> Merge5<A, B, Z, Y, X>
            where
                Z.Failure == Failure, Z.Output == Output, Y.Failure == Failure, Y.Output == Output,
                X.Failure == Failure, X.Output == Output
            {
                Merge5(a, b, z, y, x)
            }

            /// Merges 4 publishers more.
            public func merge<Z: Publisher, Y: Publisher, X: Publisher, W: Publisher>(
                with z: Z, _ y: Y, _ x: X, _ w: W
            ) -> Merge6<A, B, Z, Y, X, W>
            where
                Z.Failure == Failure, Z.Output == Output, Y.Failure == Failure, Y.Output == Output,
                X.Failure == Failure, X.Output == Output, W.Failure == Failure, W.Output == Output
            {
                Merge6(a, b, z, y, x, w)
            }

            /// Merges 5 publishers more.
            public func merge<Z: Publisher, Y: Publisher, X: Publisher, W: Publisher, V: Publisher>(
                with z: Z, _ y: Y, _ x: X, _ w: W, _ v: V
            ) -> Merge7<A, B, Z, Y, X, W, V>
            where
                Z.Failure == Failure, Z.Output == Output, Y.Failure == Failure, Y.Output == Output,
                X.Failure == Failure, X.Output == Output, W.Failure == Failure, W.Output == Output,
                V.Failure == Failure, V.Output == Output
            {
                Merge7(a, b, z, y, x, w, v)
            }

            /// Merges 6 publishers more.
            public func merge<Z: Publisher, Y: Publisher, X: Publisher, W: Publisher, V: Publisher, U: Publisher>(
                with z: Z, _ y: Y, _ x: X, _ w: W, _ v: V, _ u: U
            ) -> Merge8<A, B, Z, Y, X, W, V, U>
            where
                Z.Failure == Failure, Z.Output == Output, Y.Failure == Failure, Y.Output == Output,
                X.Failure == Failure, X.Output == Output, W.Failure == Failure, W.Output == Output,
                V.Failure == Failure, V.Output == Output, U.Failure == Failure, U.Output == Output
            {
                Merge8(a, b, z, y, x, w, v, u)
            }
        }

        /// Publishes the elements of three publishers, as they come.
        public struct Merge3<A: Publisher, B: Publisher, C: Publisher>: Publisher
        where A.Failure == B.Failure, A.Output == B.Output, B.Failure == C.Failure, B.Output == C.Output {
            public typealias Output = A.Output
            public typealias Failure = A.Failure

            public let a: A
            public let b: B
            public let c: C

            /// Merges the publishers.
            public init(_ a: A, _ b: B, _ c: C) {
                (self.a, self.b, self.c) = (a, b, c)
            }

            public func receive<S: Subscriber>(subscriber: S) where S.Failure == Failure, S.Input == Output {
                MergeMany([a.eraseToAnyPublisher(), b.eraseToAnyPublisher(), c.eraseToAnyPublisher()])
                    .receive(subscriber: subscriber)
            }

            /// Merges one publisher more.
            public func merge<Z: Publisher>(with other: Z) -> Merge4<A, B, C, Z>
            where Z.Failure == Failure, Z.Output == Output {
                Merge4(a, b, c, other)
            }

            /// Merges 2 publishers more.
            public func merge<Z: Publisher, Y: Publisher>(with z: Z, _ y: Y) -> Merge5<A, B, C, Z, Y>
            where Z.Failure == Failure, Z.Output == Output, Y.Failure == Failure, Y.Output == Output {
                Merge5(a, b, c, z, y)
            }

            /// Merges 3 publishers more.
            public func merge<Z: Publisher, Y: Publisher, X: Publisher>(
                with z: Z, _ y: Y, _ x: X
            ) -> Merge6<A, B, C, Z, Y, X>
            where
                Z.Failure == Failure, Z.Output == Output, Y.Failure == Failure, Y.Output == Output,
                X.Failure == Failure, X.Output == Output
            {
                Merge6(a, b, c, z, y, x)
            }

            /// Merges 4 publishers more.
            public func merge<Z: Publisher, Y: Publisher, X: Publisher, W: Publisher>(
                with z: Z, _ y: Y, _ x: X, _ w: W
            ) -> Merge7<A, B, C, Z, Y, X, W>
            where
                Z.Failure == Failure, Z.Output == Output, Y.Failure == Failure, Y.Output == Output,
                X.Failure == Failure, X.Output == Output, W.Failure == Failure, W.Output == Output
            {
                Merge7(a, b, c, z, y, x, w)
            }

            /// Merges 5 publishers more.
            public func merge<Z: Publisher, Y: Publisher, X: Publisher, W: Publisher, V: Publisher>(
                with z: Z, _ y: Y, _ x: X, _ w: W, _ v: V
            ) -> Merge8<A, B, C, Z, Y, X, W, V>
            where
                Z.Failure == Failure, Z.Output == Output, Y.Failure == Failure, Y.Output == Output,
                X.Failure == Failure, X.Output == Output, W.Failure == Failure, W.Output == Output,
                V.Failure == Failure, V.Output == Output
            {
                Merge8(a, b, c, z, y, x, w, v)
            }
        }

        /// Publishes the elements of four publishers, as they come.
        public struct Merge4<A: Publisher, B: Publisher, C: Publisher, D: Publisher>: Publisher
        where
            A.Failure == B.Failure, A.Output == B.Output, B.Failure == C.Failure, B.Output == C.Output,
            C.Failure == D.Failure, C.Output == D.Output
        {
            public typealias Output = A.Output
            public typealias Failure = A.Failure

            public let a: A
            public let b: B
            public let c: C
            public let d: D

            /// Merges the publishers.
            public init(_ a: A, _ b: B, _ c: C, _ d: D) {
                (self.a, self.b, self.c, self.d) = (a, b, c, d)
            }

            public func receive<S: Subscriber>(subscriber: S) where S.Failure == Failure, S.Input == Output {
                MergeMany([
                    a.eraseToAnyPublisher(), b.eraseToAnyPublisher(), c.eraseToAnyPublisher(), d.eraseToAnyPublisher(),
                ])
                .receive(subscriber: subscriber)
            }

            /// Merges one publisher more.
            public func merge<Z: Publisher>(with other: Z) -> Merge5<A, B, C, D, Z>
            where Z.Failure == Failure, Z.Output == Output {
                Merge5(a, b, c, d, other)
            }

            /// Merges 2 publishers more.
            public func merge<Z: Publisher, Y: Publisher>(with z: Z, _ y: Y) -> Merge6<A, B, C, D, Z, Y>
            where Z.Failure == Failure, Z.Output == Output, Y.Failure == Failure, Y.Output == Output {
                Merge6(a, b, c, d, z, y)
            }

            /// Merges 3 publishers more.
            public func merge<Z: Publisher, Y: Publisher, X: Publisher>(
                with z: Z, _ y: Y, _ x: X
            ) -> Merge7<A, B, C, D, Z, Y, X>
            where
                Z.Failure == Failure, Z.Output == Output, Y.Failure == Failure, Y.Output == Output,
                X.Failure == Failure, X.Output == Output
            {
                Merge7(a, b, c, d, z, y, x)
            }

            /// Merges 4 publishers more.
            public func merge<Z: Publisher, Y: Publisher, X: Publisher, W: Publisher>(
                with z: Z, _ y: Y, _ x: X, _ w: W
            ) -> Merge8<A, B, C, D, Z, Y, X, W>
            where
                Z.Failure == Failure, Z.Output == Output, Y.Failure == Failure, Y.Output == Output,
                X.Failure == Failure, X.Output == Output, W.Failure == Failure, W.Output == Output
            {
                Merge8(a, b, c, d, z, y, x, w)
            }
        }

        /// Publishes the elements of five publishers, as they come.
        public struct Merge5<A: Publisher, B: Publisher, C: Publisher, D: Publisher, E: Publisher>: Publisher
        where
            A.Failure == B.Failure, A.Output == B.Output, B.Failure == C.Failure, B.Output == C.Output,
            C.Failure == D.Failure, C.Output == D.Output, D.Failure == E.Failure, D.Output == E.Output
        {
            public typealias Output = A.Output
            public typealias Failure = A.Failure

            public let a: A
            public let b: B
            public let c: C
            public let d: D
            public let e: E

            /// Merges the publishers.
            public init(_ a: A, _ b: B, _ c: C, _ d: D, _ e: E) {
                (self.a, self.b, self.c, self.d, self.e) = (a, b, c, d, e)
            }

            public func receive<S: Subscriber>(subscriber: S) where S.Failure == Failure, S.Input == Output {
                MergeMany([
                    a.eraseToAnyPublisher(), b.eraseToAnyPublisher(), c.eraseToAnyPublisher(), d.eraseToAnyPublisher(),
                    e.eraseToAnyPublisher(),
                ])
                .receive(subscriber: subscriber)
            }

            /// Merges one publisher more.
            public func merge<Z: Publisher>(with other: Z) -> Merge6<A, B, C, D, E, Z>
            where Z.Failure == Failure, Z.Output == Output {
                Merge6(a, b, c, d, e, other)
            }

            /// Merges 2 publishers more.
            public func merge<Z: Publisher, Y: Publisher>(with z: Z, _ y: Y) -> Merge7<A, B, C, D, E, Z, Y>
            where Z.Failure == Failure, Z.Output == Output, Y.Failure == Failure, Y.Output == Output {
                Merge7(a, b, c, d, e, z, y)
            }

            /// Merges 3 publishers more.
            public func merge<Z: Publisher, Y: Publisher, X: Publisher>(
                with z: Z, _ y: Y, _ x: X
            ) -> Merge8<A, B, C, D, E, Z, Y, X>
            where
                Z.Failure == Failure, Z.Output == Output, Y.Failure == Failure, Y.Output == Output,
                X.Failure == Failure, X.Output == Output
            {
                Merge8(a, b, c, d, e, z, y, x)
            }
        }

        /// Publishes the elements of six publishers, as they come.
        public struct Merge6<A: Publisher, B: Publisher, C: Publisher, D: Publisher, E: Publisher, F: Publisher>:
            Publisher
        where
            A.Failure == B.Failure, A.Output == B.Output, B.Failure == C.Failure, B.Output == C.Output,
            C.Failure == D.Failure, C.Output == D.Output, D.Failure == E.Failure, D.Output == E.Output,
            E.Failure == F.Failure, E.Output == F.Output
        {
            public typealias Output = A.Output
            public typealias Failure = A.Failure

            public let a: A
            public let b: B
            public let c: C
            public let d: D
            public let e: E
            public let f: F

            /// Merges the publishers.
            public init(_ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F) {
                (self.a, self.b, self.c, self.d, self.e, self.f) = (a, b, c, d, e, f)
            }

            public func receive<S: Subscriber>(subscriber: S) where S.Failure == Failure, S.Input == Output {
                MergeMany([
                    a.eraseToAnyPublisher(), b.eraseToAnyPublisher(), c.eraseToAnyPublisher(), d.eraseToAnyPublisher(),
                    e.eraseToAnyPublisher(), f.eraseToAnyPublisher(),
                ])
                .receive(subscriber: subscriber)
            }

            /// Merges one publisher more.
            public func merge<Z: Publisher>(with other: Z) -> Merge7<A, B, C, D, E, F, Z>
            where Z.Failure == Failure, Z.Output == Output {
                Merge7(a, b, c, d, e, f, other)
            }

            /// Merges 2 publishers more.
            public func merge<Z: Publisher, Y: Publisher>(with z: Z, _ y: Y) -> Merge8<A, B, C, D, E, F, Z, Y>
            where Z.Failure == Failure, Z.Output == Output, Y.Failure == Failure, Y.Output == Output {
                Merge8(a, b, c, d, e, f, z, y)
            }
        }

        /// Publishes the elements of seven publishers, as they come.
        public struct Merge7<
            A: Publisher, B: Publisher, C: Publisher, D: Publisher, E: Publisher, F: Publisher, G: Publisher
        >: Publisher
        where
            A.Failure == B.Failure, A.Output == B.Output, B.Failure == C.Failure, B.Output == C.Output,
            C.Failure == D.Failure, C.Output == D.Output, D.Failure == E.Failure, D.Output == E.Output,
            E.Failure == F.Failure, E.Output == F.Output, F.Failure == G.Failure, F.Output == G.Output
        {
            public typealias Output = A.Output
            public typealias Failure = A.Failure

            public let a: A
            public let b: B
            public let c: C
            public let d: D
            public let e: E
            public let f: F
            public let g: G

            /// Merges the publishers.
            public init(_ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G) {
                (self.a, self.b, self.c, self.d, self.e, self.f, self.g) = (a, b, c, d, e, f, g)
            }

            public func receive<S: Subscriber>(subscriber: S) where S.Failure == Failure, S.Input == Output {
                MergeMany([
                    a.eraseToAnyPublisher(), b.eraseToAnyPublisher(), c.eraseToAnyPublisher(), d.eraseToAnyPublisher(),
                    e.eraseToAnyPublisher(), f.eraseToAnyPublisher(), g.eraseToAnyPublisher(),
                ])
                .receive(subscriber: subscriber)
            }

            /// Merges one publisher more.
            public func merge<Z: Publisher>(with other: Z) -> Merge8<A, B, C, D, E, F, G, Z>
            where Z.Failure == Failure, Z.Output == Output {
                Merge8(a, b, c, d, e, f, g, other)
            }
        }

        /// Publishes the elements of eight publishers, as they come.
        public struct Merge8<
            A: Publisher, B: Publisher, C: Publisher, D: Publisher, E: Publisher, F: Publisher, G: Publisher,
            H: Publisher
        >: Publisher
        where
            A.Failure == B.Failure, A.Output == B.Output, B.Failure == C.Failure, B.Output == C.Output,
            C.Failure == D.Failure, C.Output == D.Output, D.Failure == E.Failure, D.Output == E.Output,
            E.Failure == F.Failure, E.Output == F.Output, F.Failure == G.Failure, F.Output == G.Output,
            G.Failure == H.Failure, G.Output == H.Output
        {
            public typealias Output = A.Output
            public typealias Failure = A.Failure

            public let a: A
            public let b: B
            public let c: C
            public let d: D
            public let e: E
            public let f: F
            public let g: G
            public let h: H

            /// Merges the publishers.
            public init(_ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G, _ h: H) {
                (self.a, self.b, self.c, self.d, self.e, self.f, self.g, self.h) = (a, b, c, d, e, f, g, h)
            }

            public func receive<S: Subscriber>(subscriber: S) where S.Failure == Failure, S.Input == Output {
                MergeMany([
                    a.eraseToAnyPublisher(), b.eraseToAnyPublisher(), c.eraseToAnyPublisher(), d.eraseToAnyPublisher(),
                    e.eraseToAnyPublisher(), f.eraseToAnyPublisher(), g.eraseToAnyPublisher(), h.eraseToAnyPublisher(),
                ])
                .receive(subscriber: subscriber)
            }
        }
    }
#endif
