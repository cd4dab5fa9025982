internal import TaskControl

Bgtaskctl.main()
